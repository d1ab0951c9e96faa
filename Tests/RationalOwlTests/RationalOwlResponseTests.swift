import FoundationEssentials
import HTTPTypes
import Model
import RationalOwl
import Testing

/// The shape of answers for every generation of clients (docs/contracts/rationalowl.md#2.1, docs/contracts/rationalowl.md#3,
/// docs/contracts/rationalowl.md#16).
struct RationalOwlResponseTests {
    static func post(
        _ path: String,
        _ body: String,
        _ reply: Reply,
        agent: String? = nil,
        settings: JSONObject = JSONObject()
    )
        -> VendorResponse
    {
        Mount.answer(
            Mount.request(path, headers: agent.map { ["User-Agent": $0] } ?? [:], body: Array(body.utf8)),
            reply,
            settings: BindingSettings(values: settings)
        )
    }

    /// docs/contracts/rationalowl.md#2.1, rules 2 and 4, and the profiles that replace them.
    @Test(arguments: [
        ("auto", Platform?.none, false, ["as", "ase"]), ("auto", .ios, true, ["as", "ase"]),
        ("auto", .android, true, ["as"]), ("auto", .android, false, ["ase"]), ("doc2023", .android, false, ["as"]),
        ("doc2023", .ios, false, ["as"]), ("doc2025", .ios, true, ["ase"]), ("both", .android, true, ["as", "ase"]),
    ])
    func msgInfoSpellsTheStateForItsClient(profile: String, platform: Platform?, isLegacy: Bool, keys: [String]) throws
    {
        let body = "{\"aId\":\"A\",\"dRId\":\"D\",\"mId\":\"M\"\(isLegacy ? ",\"r\":1" : "")}"
        let answer = Self.post(
            "/pushApp/msgInfo",
            body,
            DocumentedReplyTests.info(nil, platform),
            settings: keyed(["compat.profile": .string(profile)])
        )
        let given = try #require(try Mount.body(answer).object)
        #expect(["as", "ase"].filter { given[$0] != nil } == keys)
        #expect(given["cId"]?.int == (profile == "doc2023" ? 303 : 312))
    }

    /// docs/contracts/rationalowl.md#14.1.
    @Test func msgInfoCommandIDCanBeTheVendorDocuments() throws {
        let settings = keyed(["compat.msgInfoCid": 303])
        let body = #"{"aId":"A","dRId":"D","mId":"M"}"#
        let answer = Self.post("/pushApp/msgInfo", body, DocumentedReplyTests.info(nil, .ios), settings: settings)
        #expect(try Mount.body(answer)["cId"] == 303)
    }

    /// docs/contracts/rationalowl.md#2.1, rule 4, with the per-app switch.
    @Test(arguments: [
        ("auto", "okhttp/4", true, [String]()), ("auto", "okhttp/4", false, ["c"]),
        ("auto", "Darwin/24", true, ["cmt", "c"]),
        ("doc2023", "okhttp/4", true, ["c"]), ("doc2025", "Darwin/24", false, ["cmt"]),
        ("both", "okhttp/4", true, ["cmt", "c"]),
    ])
    func verificationCommentsFitTheClient(profile: String, agent: String, isRight: Bool, keys: [String]) throws {
        let answer = Self.post(
            "/pushApp/verifyAuthNumber",
            #"{"aId":"A","pn":"01022221111","an":"1111"}"#,
            .registration(.verified(isRight, platform: nil)),
            agent: agent,
            settings: keyed(["compat": ["profile": .string(profile)], "verify.commentKeyAndroid": "c"])
        )
        let given = try #require(try Mount.body(answer).object)
        #expect(["cmt", "c"].filter { given[$0] != nil } == keys)
    }

    /// docs/contracts/rationalowl.md#5.1, `installApp.alreadyCode` with its presets.
    @Test(
        arguments: [
            (JSON.string("documented"), Platform.ios, -102), (.int(-102), .android, -102), ("auto", .ios, -301),
            ("auto", .android, -202), ("demo", .ios, -301), ("UMS demo app", .android, -202), ("hello", .ios, 1),
            ("hello app", .android, 1), (1, .ios, 1), (-301, .android, -301), ("-202", .ios, -202), (99, .ios, -102),
        ] as [(JSON, Platform, Int64)]
    )
    func alreadyRegisteredIsAnsweredByTheSetting(code: JSON, platform: Platform, expected: Int64) throws {
        var device = DocumentedReplyTests.device
        device.wasActive = true
        device.platform = platform
        let answer = Self.post(
            "/pushApp/installApp",
            #"{"aId":"A","dt":2,"dRId":"D"}"#,
            .registration(.registered(device)),
            settings: keyed(["installApp.alreadyCode": code])
        )
        let body = try Mount.body(answer)
        #expect(body["rc"]?.int == expected)
        #expect(body["usRid"]?.string == "SVRA")
        #expect(body["cmt"]?.string == (expected == 1 ? "정상처리" : "이미 등록된 단말입니다."))
    }

    /// docs/contracts/rationalowl.md#16.9: the answer repeats exactly the identifiers of the request, and
    /// unregistering an unknown device succeeds.
    @Test(arguments: [
        (#""pn":"01022221111""#, ["pn"]), (#""dRId":"D""#, ["dRId"]),
        (#""pn":"01022221111","dRId":"D""#, ["pn", "dRId"]),
    ])
    func unregisteringRepeatsTheRequestsIdentifiers(ids: String, keys: [String]) throws {
        for reply in [Reply.registration(.unregistered(0)), .refused(.unknownDevice)] {
            let body = try #require(
                try Mount.body(Self.post("/pushApp/unregUser", "{\"aId\":\"A\",\(ids)}", reply)).object
            )
            #expect(body["rc"] == 1)
            #expect(["pn", "dRId"].filter { body[$0] != nil } == keys)
        }
    }

    /// docs/contracts/rationalowl.md#16.2: valid, repeated, unknown and foreign receipts get the same answer.
    @Test(arguments: [
        Reply.receipt(.recorded), .receipt(.repeated), .receipt(.orphan), .refused(.unknownBinding),
        .refused(.unknownDevice),
        .refused(.unknownMessage), .refused(.invalid("message")),
    ])
    func everyReceiptIsOK(reply: Reply) {
        let answer = Self.post("/pushApp/notiRead", #"{"aId":"A","dRId":"D","mId":"M"}"#, reply)
        #expect(answer.status == 200)
        #expect(answer.body == Array("ok".utf8))
    }

    /// docs/contracts/rationalowl.md#5.5: a receipt without an account is an orphan too; only an unparsable body is
    /// refused.
    @Test func onlyAnUnparsableReceiptIsAnError() {
        #expect(Self.post("/pushApp/notiRead", "{}", .receipt(.recorded)).body == Array("ok".utf8))
        let unparsable = Self.post("/pushApp/notiRead", "{", .receipt(.recorded))
        #expect(unparsable.status == 400)
        #expect(unparsable.body == Array("error".utf8))
        #expect(unparsable.headers[.contentType] == "text/plain; charset=utf-8")
    }

    /// docs/contracts/rationalowl.md#3: a gateway failure is 200 with -1 and a comment; for a receipt it is 503, so
    /// that the client sends it again.
    @Test(arguments: RationalOwlCall.allCases)
    func aGatewayFailureMakesTheClientRetry(endpoint: RationalOwlCall) throws {
        let path = try #require(Mount.adapter.routes.first { $0.name == endpoint.rawValue })
        guard case .exact(let text) = path.path else { return #expect(Bool(false)) }
        let request = Mount.request(text, body: Array("{}".utf8))
        let answer = Mount.adapter.encode(
            [.refused(.unavailable(retryAfter: .seconds(3)))],
            for: request,
            settings: .unbound
        )
        #expect(answer.headers[.retryAfter] == "3")
        guard endpoint != .notiRead else { return #expect(answer.status == 503) }
        #expect(answer.status == 200)
        let body = try Mount.body(answer)
        #expect(endpoint.surface == .server ? body["error"]?.string != nil : body["rc"] == -1)
        #expect(Shape(endpoint: endpoint.rawValue).fault(answer) == nil)
        // The reply of another command, or a missing reply, must neither trap nor look like a success.
        for replies in [[], [Reply.submission(.controlled(true))]] {
            let answer = Mount.adapter.encode(replies, for: request, settings: .unbound)
            #expect(Shape(endpoint: endpoint.rawValue).fault(answer) == nil)
            // A removal that names only a phone number has no command unless the binding allows it, and removes nobody.
            let code: JSON = endpoint == .unregUser && replies.isEmpty ? 1 : -1
            #expect(try endpoint.surface == .server || endpoint == .notiRead || Mount.body(answer)["rc"] == code)
        }
    }

    /// docs/contracts/rationalowl.md#3: unknown path, wrong method, too large and too many requests, in the vendor's shape;
    /// docs/contracts/rationalowl.md#16.3: with the call's own keys if the call is known.
    @Test func transportErrorsHaveTheVendorsShape() throws {
        let unknown = Mount.request("/pushApp/setCallback", body: [])
        let get = Mount.request("/pushApp/installApp", method: .get, body: [])
        let known = Mount.request("/pushApp/installApp", body: [])
        let bare: Set<String> = ["rc", "cmt"]
        let whole: Set<String> = ["cId", "aId", "rc", "cmt", "usRid"]
        for (request, code, status, keys) in [
            (unknown, AdapterError.Code.notFound, 404, bare), (get, .methodNotAllowed, 405, whole),
            (known, .tooLarge, 413, whole),
            (known, .tooManyRequests, 429, whole), (known, .timedOut, 408, whole),
        ] {
            let answer = Mount.adapter.refuse(AdapterError(code), for: request, settings: .unbound)
            let body = try #require(try Mount.body(answer).object)
            #expect(answer.status == status)
            #expect(body["rc"] == -1)
            #expect(Set(body.keys) == keys)
        }
        #expect(throws: AdapterError(.notFound)) { try Mount.adapter.locate(unknown) }
        #expect(throws: AdapterError(.methodNotAllowed)) { try Mount.adapter.locate(get) }
        #expect(
            Mount.adapter.refuse(AdapterError(.methodNotAllowed), for: get, settings: .unbound).headers[.allow]
                == "POST"
        )
        let server = Mount.request("/server/unregister/", body: [])
        let answer = Mount.adapter.refuse(AdapterError(.notFound), for: server, settings: .unbound)
        #expect(answer.status == 404)
        #expect(try Mount.body(answer).object?.keys == ["error"])
    }

    /// docs/contracts/rationalowl.md#5.3: too many requests for one phone is an error of the call; too many for the
    /// server is 429.
    @Test func tooManyVerificationsOfOnePhoneAreAnErrorOfTheCall() throws {
        let body = #"{"aId":"A","pn":"01022221111"}"#
        let phone = Self.post("/pushApp/reqAuthNumber", body, .refused(.rateLimited(retryAfter: .seconds(30))))
        #expect(phone.status == 200)
        #expect(try Mount.body(phone)["rc"] == -1)
        let other = Self.post(
            "/pushApp/unregUser",
            #"{"aId":"A","dRId":"D"}"#,
            .refused(.rateLimited(retryAfter: .seconds(30)))
        )
        #expect(other.status == 429)
        #expect(other.headers[.retryAfter] == "30")
        #expect(try Mount.body(other)["rc"] == -1)
    }

    /// docs/contracts/rationalowl.md#8.3, the table of errors, with both conventions.
    @Test(
        arguments: [
            (Refusal.unknownSender, -101), (.unknownBinding, -201), (.unknownTemplate, -251), (.noCredential, -231),
            (.invalid("dueAt"), -1), (.tooMany("audience", limit: 2000), -1), (.idempotencyMismatch, -1),
        ] as [(Refusal, Int64)]
    )
    func aRefusedSendHasItsCodeAndNoMessageID(refusal: Refusal, code: Int64) throws {
        let request = try Mount.documented("sendByPhoneNumber/simple.request.json")
        let answer = Mount.adapter.encode([.refused(refusal)], for: request, settings: .unbound)
        let body = try #require(try Mount.body(answer).object)
        #expect(answer.status == 200)
        #expect(body["rc"]?.int == code)
        #expect(Set(body.keys) == ["rc", "cmt", "error"])
        if refusal == .invalid("dueAt") { #expect(body["cmt"]?.string?.hasSuffix("rv.st") == true) }
    }

    /// docs/contracts/rationalowl.md#8.5: the comment for an invalid callback URL is the name of the field.
    @Test func aBadCallbackURLIsNamed() throws {
        let body = #"{"aId":"A","rId":"R","url":"https://10.0.0.1/"}"#
        let answer = Self.post("/msgClient/setCallbackUrl", body, .refused(.invalid("callback")))
        #expect(try Mount.body(answer) == ["rc": -1, "cmt": "url"])
    }

    /// docs/contracts/rationalowl.md#7.4, the shim's short answers.
    @Test func theShimAnswersItsOwnCodes() throws {
        let ids = #"{"sId":"S","dRId":"D","mId":"M","state":"background","tk":"ab"}"#
        for (path, reply) in [
            ("device/token", Reply.registration(.tokenUpdated)), ("device/unregister", .registration(.unregistered(0))),
            ("device/state", .inbox(.undelivered([]))), ("noti/delivered", .receipt(.orphan)),
            ("noti/opened", .receipt(.recorded)),
        ] {
            #expect(try Mount.body(Self.post("/ro/v1/\(path)", ids, reply)) == ["rc": 1])
        }
        var device = DocumentedReplyTests.device
        device.wasActive = true
        let again = Self.post("/ro/v1/device/register", #"{"sId":"S","dt":2}"#, .registration(.registered(device)))
        #expect(try Mount.body(again) == ["rc": -122, "dRId": "d0d1d2d3d4d5d6d7d8d9dadbdcdddedf"])
    }

    /// docs/contracts/rationalowl.md#8.1, `privateNetwork`.
    @Test func thePrivateChannelIsReturnedOnRequest() throws {
        let settings = keyed(["channelServer": "gw:8006", "privateChannelServer": "10.0.0.1:8006"])
        let reply = Reply.sender(.registered("SVR"))
        let outside = Self.post("/server/register", #"{"serviceId":"S","registerName":"n"}"#, reply, settings: settings)
        #expect(try Mount.body(outside)["channelServer"] == "gw:8006")
        let body = #"{"serviceId":"S","registerName":"n","privateNetwork":1}"#
        let inside = Self.post("/server/register", body, reply, settings: settings)
        #expect(try Mount.body(inside)["channelServer"] == "10.0.0.1:8006")
    }

    /// docs/contracts/rationalowl.md#14.2: numbers outside the closed sets of the apps are never sent.
    @Test func fallbackStatesStayInTheirClosedSets() {
        let odd: JSON = ["a": ["s": 9, "st": 5], "m": ["t": 2, "s": 12, "st": -5]]
        #expect(FallbackStates(odd) == .none)
        #expect(FallbackStates("nonsense") == .none)
        #expect(FallbackStates(["s": 2, "t": 12, "sp": "0212345678"]) == .none)
    }
}
