import Coverage
import HTTPTypes
import Model
import Testing

@testable import NotificationHubs

/// docs/contracts/notificationhubs.md#4: installations.
struct InstallationTests {
    static let id = "5d9c7b3e-7c41-4c39-9c51-6b1d2a9f0e77"
    static let path = "/hub1/installations/\(id)"

    private func put(_ body: String) -> VendorRequest { Mount.request(.put, Self.path, body) }

    private func patch(_ body: String) -> VendorRequest { Mount.request(.patch, Self.path, body) }

    /// The registration that results from a body, or an error with the text of its refusal.
    private func registration(_ body: String) throws -> (DeviceRegistration, UserChange) {
        guard case .registration(.enlist(let registration, let change)) = try Mount.command(put(body)) else {
            throw AdapterError(.notFound)
        }
        return (registration, change)
    }

    @Test(.covers("notificationhubs", "PUT /{hub}/installations/{id}")) func theDocumentedRegistrationBecomesADevice()
        throws
    {
        let request = try Fixture.request("installations/put.request.txt")
        guard case .registration(.enlist(let registration, let change)) = try Mount.command(request) else {
            Issue.record("no registration")
            return
        }
        #expect(registration.key == VendorDeviceKey(Self.id))
        #expect(registration.platform == .ios)
        #expect(registration.token?.text == Fixture.token.lowercased())
        #expect(change == .set("u-1"))
        // docs/contracts/notificationhubs.md#5.6: it is also found by its platform and names.
        let tags = ["seoul", "shop:vip", "$InstallationId:{\(Self.id)}", "$UserId:{u-1}"].compactMap { Tag($0) }
        #expect(registration.tags == tags + [Tag(Platform.ios)] + variantTags)
        #expect(registration.attributes["pushChannel"] == nil, "tokens stand in the device's row alone")
        #expect(registration.attributes["expirationTime"] == "2026-04-01T00:00+0000")
        #expect(registration.attributes["templates"]?["news"]?["headers"] == ["apns-priority": "10"])
        #expect(registration.expected == nil)
        let answer = Mount.answer(request) { _ in Mount.enlisted }
        #expect(try answer.fault(against: "installations/put.response.txt") == nil)
    }

    /// The header of the vendor's SDK (docs/contracts/notificationhubs.md#4.1). A back end's system is not the device's.
    @Test func theSDKsHeaderReportsTheClient() throws {
        func client(_ agent: String?, listens: Bool = true) throws -> ClientFacts {
            let listener = Signer(name: "DefaultListenSharedAccessSignature", key: Mount.listenKey)
            let request = Mount.request(
                .put,
                Self.path,
                headers: agent.map { ["User-Agent": $0] } ?? [:],
                #"{"platform":"apns","pushChannel":"ab12"}"#,
                authorization: listens ? listener.header : Signer().header
            )
            var commands = try Mount.adapter.decode(request, settings: Mount.settings)
            if case .registration(.standing)? = commands.last {
                let replies = [Reply.registration(.standing(nil))]
                commands = try Mount.adapter.sequel(to: replies, of: request, settings: Mount.settings)
            }
            guard case .registration(.enlist(let registration, _))? = commands.last else {
                throw AdapterError(.notFound)
            }
            return registration.client
        }
        let documented = "NOTIFICATIONHUBS/2020-06(api-origin=IosSdkV3.1; os=iOS; os_version=17.5;)"
        let reported = ClientFacts([.sdkVersion: "IosSdkV3.1", .os: "iOS", .osVersion: "17.5"])
        #expect(try client(documented) == reported)
        #expect(try client(documented, listens: false).isEmpty)
        for other in [
            nil, "", "curl/8.5", "NOTIFICATIONHUBS/", "NOTIFICATIONHUBS/2020-06)(", "NOTIFICATIONHUBS/1(;=;os=)",
        ] {
            #expect(try client(other).isEmpty, "\(other ?? "")")
        }
        #expect(try client("NOTIFICATIONHUBS/1(" + String(repeating: "os=x;", count: 200) + ")").isEmpty)
    }

    /// A PUT is the whole installation (docs/contracts/notificationhubs.md#4.1).
    @Test func missingFieldsAreCleared() throws {
        let (registration, change) = try registration(#"{"platform":"APNS","pushChannel":"ab12"}"#)
        #expect(change == .clear)
        #expect(registration.tags == ["$InstallationId:{\(Self.id)}"].compactMap { Tag($0) } + [Tag(Platform.ios)])
        #expect(registration.attributes == ["platform": "apns"])
        let (android, _) = try self.registration(#"{"platform":"fcmv1","pushChannel":"x:y","tags":null,"userId":""}"#)
        #expect(android.platform == .android)
        #expect(android.tags?.last == Tag(Platform.android))
        #expect(android.attributes == ["platform": "fcmV1"])
    }

    @Test(arguments: [
        (#"{"pushChannel":"ab"}"#, "platform is missing"), (#"{"platform":"apns"}"#, "pushChannel is missing"),
        (#"{"platform":"apns","pushChannel":""}"#, "pushChannel is missing"),
        (#"{"platform":"wns","pushChannel":"ab"}"#, "The platform 'wns' is not available on this gateway"),
        (
            #"{"platform":"apns","pushChannel":"zz"}"#,
            "One or more characters in device token is not a hexadecimal digit"
        ),
        (
            #"{"platform":"apns","pushChannel":"abc"}"#,
            "Device token is either empty OR it has odd number of nibbles"
        ),
        (
            #"{"platform":"apns","pushChannel":"ab","installationId":"other"}"#,
            "The installation id in the body is not the one in the path"
        ),
        (#"{"platform":"apns","pushChannel":"ab","tags":["$UserId:{u-2}"]}"#, "Tags can not start with $"),
        (#"{"platform":"apns","pushChannel":"ab","tags":["a,b"]}"#, "The tag 'a,b' is not valid"),
        (#"{"platform":"apns","pushChannel":"ab","tags":"a"}"#, "The tags are not an array"),
        (#"{"platform":"apns","pushChannel":"ab","userId":"a b"}"#, "The user id is not valid"),
        (#"{"platform":"apns","pushChannel":"ab","userId":7}"#, "The value of userId is not a string"),
        (#"{"platform":"apns","pushChannel":"ab","expirationTime":"soon"}"#, "The expiration time is not valid"),
        (#"{"platform":"apns","pushChannel":"ab","templates":{"t":{}}}"#, "The template 't' has no body"),
        ("[]", "The body is not an object"), ("{", "The body is not JSON"),
    ])
    func aWrongFieldIsRefusedWithItsName(_ body: String, _ detail: String) {
        let answer = Mount.answer(put(body))
        #expect(answer.status == 400)
        #expect(answer.detail == detail)
    }

    @Test func anInstallationHasSixtyTagsAtMost() throws {
        func body(_ count: Int) -> String {
            let tags = (0..<count).map { "\"t\($0)\"" }.joined(separator: ",")
            return #"{"platform":"apns","pushChannel":"ab","tags":[\#(tags)]}"#
        }
        #expect(try registration(body(60)).0.tags?.count == 62)
        #expect(Mount.answer(put(body(61))).detail == "There may be at most 60 tags")
    }

    // MARK: Reading

    private func standing(_ attributes: JSONObject, token: String = Fixture.token, state: TokenState = .active)
        -> Reply
    {
        .registration(
            .standing(
                IdentityStanding(
                    state: .active,
                    token: DeviceToken(apns: token),
                    user: nil,
                    tokenState: state,
                    attributes: attributes
                )
            )
        )
    }

    /// The additional tags of an installation with the template `news`.
    private var variantTags: [Model.Tag] { [.hasVariants] + ["news"].compactMap { Tag($0).map { .ofVariant($0) } } }

    private static let template: JSON = [
        "body": #"{"aps":{"alert":"$(title)"}}"#, "headers": ["apns-priority": "10"],
    ]

    @Test(.covers("notificationhubs", "GET /{hub}/installations/{id}")) func theDocumentedAnswerComesBack() throws {
        let stored: JSONObject = [
            "platform": "apns", "spelling": "upper", "tags": ["seoul", "shop:vip"],
            "templates": ["news": Self.template],
        ]
        let request = Mount.request(.get, Self.path)
        let answer = Mount.answer(request) { _ in standing(stored) }
        let documented = try Fixture.message("installations/get.response.txt")
        var wanted = try #require(try JSONParser.parse(documented.body).object)
        wanted["installationId"] = .string(Self.id)
        #expect(try JSONParser.parse(answer.body) == .object(wanted))
        #expect(try JSONParser.parse(answer.body).object?.keys == wanted.keys, "in the documented order")
        #expect(answer.header("Content-Type") == "application/xml; charset=utf-8")
        let expired = Mount.answer(request) { _ in standing(stored, state: .invalid) }
        #expect(try JSONParser.parse(expired.body)["pushChannelExpired"] == true)
    }

    @Test func anUnknownInstallationHasTheDocumentedAnswer() throws {
        let gone = IdentityStanding(state: .unregistered, token: nil, user: nil)
        let replaced = IdentityStanding(state: .replaced, token: DeviceToken(apns: "ab"), user: nil)
        for method in [HTTPRequest.Method.get, .patch] {
            for found in [nil, gone, replaced] {
                let answer = Mount.answer(Mount.request(method, Self.path, "[]")) { _ in
                    .registration(.standing(found))
                }
                #expect(try answer.fault(against: "installations/missing.response.txt") == nil, "\(method)")
            }
        }
    }

    @Test(.covers("notificationhubs", "DELETE /{hub}/installations/{id}")) func leavingIs204WhoeverWasThere() throws {
        let request = Mount.request(.delete, Self.path)
        #expect(try Mount.command(request) == .registration(.unregister(.key(VendorDeviceKey(Self.id)))))
        for count in [0, 1] {
            let answer = Mount.answer(request) { _ in .registration(.unregistered(count)) }
            #expect(answer.status == 204)
            #expect(answer.body.isEmpty)
        }
    }

    /// docs/contracts/notificationhubs.md#4.1: the end that a client sets is stored, shown and applied; from then on
    /// the installation counts as deleted.
    @Test(arguments: [
        ("2026-01-01T00:00:01Z", true), ("2026-01-01T00:00:00Z", false), ("9999-12-31T23:59:59.9999999Z", true),
    ])
    func anInstallationEndsAtItsExpirationTime(_ time: String, _ isThere: Bool) throws {
        let body = #"{"platform":"apns","pushChannel":"ab","expirationTime":"\#(time)"}"#
        let put = Mount.request(.put, Self.path, body)
        guard case .registration(.enlist(let registration, _)) = try Mount.command(put) else {
            Issue.record("no registration")
            return
        }
        let seconds = try #require(HubTime.parse(time)).seconds
        #expect(registration.attributes[DeviceRegistration.endAttribute] == .int(Int(seconds)))
        let kept = standing(registration.attributes)
        let answer = Mount.answer(Mount.request(.get, Self.path)) { _ in kept }
        #expect(answer.status == (isThere ? 200 : 404))
        #expect(answer.text.contains(#""expirationTime":"\#(time)""#) == isThere)
        #expect(!answer.text.contains("endsAt"))
        let change = patch(#"[{"op":"add","path":"/tags","value":"a"}]"#)
        #expect(try Mount.adapter.sequel(to: [kept], of: change, settings: Mount.settings).count == (isThere ? 1 : 0))
        #expect(Mount.adapter.encode([kept], for: change, settings: Mount.settings).status == (isThere ? 503 : 404))
        // Removing the end of an installation makes it endless.
        let endless = try patched(#"[{"op":"remove","path":"/expirationTime"}]"#, ["platform": "apns"]).0
        #expect(endless.attributes[DeviceRegistration.endAttribute] == nil)
    }

    // MARK: Patches

    /// The registration that results from a patch of `attributes`.
    private func patched(_ body: String, _ attributes: JSONObject) throws -> (DeviceRegistration, UserChange) {
        let request = patch(body)
        #expect(try Mount.command(request) == .registration(.standing(key: VendorDeviceKey(Self.id))))
        let sequel = try Mount.adapter.sequel(to: [standing(attributes)], of: request, settings: Mount.settings)
        guard case .registration(.enlist(let registration, let change))? = sequel.first else {
            throw AdapterError(.notFound)
        }
        #expect(registration.expected == attributes, "it builds on what was read")
        return (registration, change)
    }

    @Test(.covers("notificationhubs", "PATCH /{hub}/installations/{id}")) func theDocumentedPatchChangesWhatItNames()
        throws
    {
        let stored: JSONObject = [
            "platform": "apns", "spelling": "upper", "userId": "u-1", "tags": ["seoul", "shop:vip"],
            "templates": ["news": Self.template],
        ]
        let message = try Fixture.message("installations/patch.request.txt")
        let (registration, change) = try patched(message.body, stored)
        #expect(change == .set("u-2"))
        #expect(registration.token?.text == Fixture.token.lowercased())
        #expect(
            registration.attributes == [
                "platform": "apns", "spelling": "upper", "userId": "u-2", "tags": ["shop:vip", "busan"],
                "templates": [
                    "news": ["body": #"{"aps":{"alert":"$(title)"}}"#, "headers": ["apns-priority": "5"]]
                ],
                "variants": ["news": ["news"]],
            ]
        )
        let system = ["$InstallationId:{\(Self.id)}", "$UserId:{u-2}"].compactMap { Tag($0) }
        #expect(
            registration.tags == ["shop:vip", "busan"].compactMap { Tag($0) } + system + [Tag(Platform.ios)]
                + variantTags
        )
        let request = try Fixture.request("installations/patch.request.txt")
        let answer = Mount.answer(request) { command in
            if case .registration(.standing) = command { standing(stored) } else { Mount.enlisted }
        }
        #expect(try answer.fault(against: "installations/patch.response.txt") == nil)
    }

    /// docs/contracts/notificationhubs.md#4.3, the table of paths.
    @Test(arguments: [
        (#"[{"op":"replace","path":"/tags","value":["a","b"]}]"#, "tags", #"["a","b"]"#),
        (#"[{"op":"replace","path":"/tags","value":"a"}]"#, "tags", #"["a"]"#),
        (#"[{"op":"remove","path":"/tags/OLD"}]"#, "tags", nil), (#"[{"op":"remove","path":"/tags"}]"#, "tags", nil),
        (#"[{"op":"remove","path":"/user"}]"#, "userId", nil),
        (#"[{"op":"add","path":"/userId","value":"u-9"}]"#, "userId", #""u-9""#),
        (
            #"[{"op":"add","path":"/expirationTime","value":"2027-01-01T00:00:00.5Z"}]"#, "expirationTime",
            #""2027-01-01T00:00:00.5Z""#
        ),
        (#"[{"op":"add","path":"/pushVariables/nick","value":"Mina"}]"#, "pushVariables", #"{"nick":"Mina"}"#),
        (#"[{"op":"add","path":"/pushVariables/a~1b~0","value":"c"}]"#, "pushVariables", #"{"a/b~":"c"}"#),
        (#"[{"op":"add","path":"/templates/t","value":"{\"body\":\"b\"}"}]"#, "templates", #"{"t":{"body":"b"}}"#),
        (#"[{"op":"add","path":"/templates/t","value":{"body":"b"}}]"#, "templates", #"{"t":{"body":"b"}}"#),
        (#"[{"op":"add","path":"/secondaryTiles/x","value":{"y":1}}]"#, "secondaryTiles", #"{"x":{"y":1}}"#),
    ])
    func aPathChangesItsPart(_ body: String, _ key: String, _ wanted: String?) throws {
        let stored: JSONObject = ["platform": "apns", "userId": "u", "tags": ["old"]]
        let value = try patched(body, stored).0.attributes[key]
        #expect(try value == wanted.map { try JSONParser.parse($0) })
    }

    /// docs/contracts/notificationhubs.md#4.3: an unknown path is refused with 400 and this text, and no part of the
    /// patch is applied.
    @Test func anUnknownPathIsRefused() throws {
        let body = #"[{"op":"add","path":"/tags","value":"a"},{"op":"add","path":"/colour","value":"red"}]"#
        let answer = Mount.answer(patch(body)) { command in
            if case .registration(.standing) = command { return standing(["platform": "apns"]) }
            Issue.record("a part of the patch was done")
            return Mount.enlisted
        }
        #expect(try answer.fault(against: "installations/path.response.txt") == nil)
    }

    @Test(arguments: [
        #"[{"op":"add","path":"/tags","value":"a,b"}]"#, #"[{"op":"add","path":"/tags","value":"$UserId:{x}"}]"#,
        #"[{"op":"remove","path":"/pushChannel"}]"#, #"[{"op":"replace","path":"/pushChannel","value":"xyz"}]"#,
        #"[{"op":"add","path":"/templates/none/body","value":"b"}]"#, #"[{"op":"move","path":"/tags","value":"a"}]"#,
        #"[{"op":"add","path":"/tags"}]"#, #"[{"op":"add","value":"a"}]"#, #"{"op":"add"}"#, "[7]", "",
        #"[{"op":"add","path":"/userId","value":{}}]"#, #"[{"op":"add","path":"/platform","value":"gcm"}]"#,
    ])
    func anInvalidPatchIsRefused(_ body: String) {
        let answer = Mount.answer(patch(body)) { command in
            if case .registration(.standing) = command { standing(["platform": "apns"]) } else { Mount.enlisted }
        }
        #expect(answer.status == 400, "\(answer.text)")
    }

    /// After a conflict the patch reads again. After repeated conflicts the client must retry, and never gets a 4xx
    /// (docs/contracts/notificationhubs.md#4.5).
    @Test func aConflictingPatchIsRetried() throws {
        let request = patch(#"[{"op":"add","path":"/tags","value":"a"}]"#)
        var writes = 0
        let answer = Mount.answer(request) { command in
            if case .registration(.standing) = command { return standing(["platform": "apns"]) }
            writes += 1
            return writes == 3 ? Mount.enlisted : .refused(.outdated)
        }
        #expect(answer.status == 200)
        let never = Mount.answer(request) { command in
            if case .registration(.standing) = command { standing(["platform": "apns"]) } else { .refused(.outdated) }
        }
        #expect(never.status == 503)
        #expect(never.header("Retry-After") == "1")
    }
}
