import FoundationEssentials
import HTTPTypes
import IPNS
import Model
import TestKit
import Testing

/// Sends through the vendor's own service: the calls that leave, the content that survives, and the outcomes.
struct UpstreamSendTests {
    static let upstream = UpstreamSettings(vendor: .ipns, secrets: ["apiKey": "key"])

    static func target(_ key: String) -> TargetFacts {
        TargetFacts(
            target: TargetID(UUID()),
            identity: IdentityID(UUID()),
            device: nil,
            app: "shop",
            vendor: .ipns,
            key: VendorDeviceKey(key),
            person: TargetPerson(user: "E12345"),
            destination: PushDestination(platform: .ios, environment: .production, token: nil, tokenState: .none)
        )
    }

    private static func calls(
        _ content: Content,
        _ targets: [TargetFacts] = [target("D1"), target("D2")],
        origin: Vendor = .ipns,
        _ upstream: UpstreamSettings = upstream,
        _ settings: BindingSettings = Mount.strict
    ) throws(AdapterError) -> [UpstreamCall] {
        let message = Model.Notification(
            message: MessageID(UUID()),
            origin: origin,
            content: content,
            sentAt: DocumentedCallTests.sentAt
        )
        return try Mount.adapter.outbound(
            message,
            to: targets,
            through: upstream,
            settings: settings,
            at: DocumentedCallTests.sentAt
        )
    }

    private static func submission(_ request: VendorRequest) throws -> Submission {
        guard case .submission(.submit(let submission))? = try Mount.commands(request).first else {
            throw AdapterError(.notFound)
        }
        return submission
    }

    // docs/contracts/ipns.md#2.11: the documented call, to devices instead of users, without the field that a message does
    // not keep.
    @Test func theCallIsTheDocumentedOne() throws {
        let documented = try #require(try Fixture.calls("send.txt").first)
        let sent = try Self.submission(Mount.request(documented.path, documented.request))
        let call = try #require(try Self.calls(sent.content).first)
        var wanted = try #require(documented.request.object)
        wanted["PUSH_ID_TYPE"] = "@00"
        wanted["PUSH_ID"] = ["D1", "D2"]
        wanted["REPORT_URL"] = nil
        #expect(try JSONParser.parse(call.request.body) == .object(wanted))
        #expect(call.request.path == "/ipns/send" && call.request.method == .post)
        #expect(call.request.headers[.authorization] == "Bearer key")
        #expect(call.request.headers[.contentType] == "application/json; charset=UTF-8")
        let keyless = UpstreamSettings(vendor: .ipns)
        let open = try #require(try Self.calls(sent.content, [Self.target("D1")], keyless).first)
        #expect(open.request.headers[.authorization] == nil)
    }

    /// Forms of the documented send.
    private static let forms: [JSON] = [
        ["ALERT": "a"], ["TITLE": "t", "ALERT": "공지", "MESSAGE": "m", "SOUND": "x.caf", "BADGE": 0],
        ["ALERT": "a", "MESSAGE": ["docId": "A-77"]], ["ALERT": "a", "BEDGE": "3", "PRIORITY": "1"],
        ["ALERT": "a", "SEND_TYPE": "R", "RESV_DATE": "20300115090000"],
    ]

    // docs/contracts/ipns.md#2.11
    @Test func theFormsHaveEveryDocumentedField() throws {
        let documented = try ContractPage("ipns").rows(of: "2.11")
        var used: Set<String> = []
        for form in Self.forms + (try Fixture.calls("send.txt").map(\.request)) {
            used.formUnion(form.object?.keys ?? [])
        }
        #expect(documented.count > 10 && Set(documented).subtracting(used).isEmpty)
    }

    @Test(arguments: forms)
    func theContentOfADocumentedSendSurvives(_ form: JSON) throws {
        var body = keyed(form)
        body["APP_ID"] = "hr.mobile"
        body["PUSH_ID_TYPE"] = "@01"
        body["PUSH_ID"] = ["E12345"]
        let sent = try Self.submission(Mount.request("/ipns/send", .object(body)))
        let calls = try Self.calls(sent.content)
        #expect(calls.count == 1 && UpstreamContract.fault(calls, of: 2) == nil)
        let received = try Self.submission(try #require(calls.first).request)
        #expect(received.content == sent.content)
        #expect(received.audience == .listed([Addressee(.deviceKey("D1")), Addressee(.deviceKey("D2"))]))
        // It leaves when it is due.
        #expect(received.timing.dueAt == nil)
    }

    @Test func theDocumentedSendSurvives() throws {
        let documented = try #require(try Fixture.calls("send.txt").first)
        let sent = try Self.submission(Mount.request(documented.path, documented.request))
        let received = try Self.submission(try #require(try Self.calls(sent.content).first).request)
        #expect(received.content == sent.content)
    }

    @Test func manyTargetsAreDividedAmongCalls() throws {
        let targets = (0..<1201).map { Self.target("D\($0)") } + [Self.target("D0"), Self.target("")]
        let calls = try Self.calls(Content(body: "a"), targets)
        #expect(UpstreamContract.fault(calls, of: targets.count) == nil)
        #expect(Set(calls.flatMap(\.targets)) == Set(0..<1202))
        for call in calls {
            let ids = try #require(try JSONParser.parse(call.request.body)["PUSH_ID"]?.array)
            #expect(ids.count <= 500 && Set(ids.compactMap(\.string)) == Set(call.names))
        }
        #expect(try Self.calls(Content(body: "a"), [], Self.upstream).isEmpty)
        #expect(try Self.calls(Content(body: "a"), [Self.target("D1")], Self.upstream, .unbound).isEmpty)
    }

    @Test func aMessageOfAnotherInterfaceHasItsTextAndData() throws {
        let content = Content(title: "t", subtitle: "s", body: "", badge: 3, data: keyed(["docId": "A-77"]))
        let body = try JSONParser.parse(try #require(try Self.calls(content, origin: .native).first).request.body)
        #expect(body["ALERT"] == "t" && body["TITLE"] == "t" && body["BADGE"] == 3)
        #expect(body["MESSAGE"] == .string(#"{"docId":"A-77"}"#))
        // A badge that the gateway counts is not a number that the vendor can set.
        var counted = content
        counted.badgeStep = 1
        let other = try JSONParser.parse(try #require(try Self.calls(counted, origin: .native).first).request.body)
        #expect(other["BADGE"] == nil)
    }

    @Test func otherContentIsRefused() {
        var silent = Content(body: "b")
        silent.isSilent = true
        var activity = Content(body: "b")
        activity.activity = ActivityReference(.running, "game")
        func text(_ count: Int) -> String { String(repeating: "x", count: count) }
        let data = keyed(["message": .string(text(33_000))])
        let contents: [(Content, AdapterError)] = [
            (Content(raw: .object(JSONObject())), AdapterError(.invalid, field: "raw")),
            (silent, AdapterError(.invalid, field: "silent")),
            (activity, AdapterError(.invalid, field: "activity")),
            (Content(body: ""), AdapterError(.missing, field: "ALERT")),
            (Content(body: text(1025)), AdapterError(.tooLarge, field: "ALERT")),
            (Content(title: text(257), body: "b"), AdapterError(.tooLarge, field: "TITLE")),
            (Content(body: "b", data: data), AdapterError(.tooLarge, field: "MESSAGE")),
        ]
        for (content, error) in contents { #expect(throws: error) { try Self.calls(content) } }
    }
}

/// The outcomes of a send through the vendor's own service, by docs/contracts/ipns.md#2.4 and docs/contracts/ipns.md#2.11.
struct UpstreamVerdictTests {
    private static let call = UpstreamCall(
        VendorRequest(route: "send", path: "/ipns/send"),
        targets: [2, 0, 1],
        names: ["E12345", "E77777", "E77777"]
    )

    private static let accepted = Outcome.accepted(TransportMessageID(""))

    private static func unknown(_ reason: String) -> Outcome {
        .rejected(Rejection(scope: .tokenDead(since: Timestamp(milliseconds: 0)), reason: reason, status: 200))
    }

    private static func result(_ body: String, status: Int = 200) -> UpstreamResult {
        Mount.adapter.outcome(of: call, response: VendorResponse(status: status, body: Array(body.utf8)))
    }

    @Test func listedDevicesAreUnknown() throws {
        let answer = try #require(try Fixture.calls("send.txt").first).response
        let outcomes = [Self.accepted, Self.unknown("NOT_FOUND"), Self.unknown("NOT_FOUND")]
        #expect(Self.result(JSONWriter.text(answer)) == UpstreamResult(outcomes, reference: "202001150900001234"))
    }

    // A message that the vendor names may be sent, unless it knows none of the devices.
    @Test func aSuccessWithoutARecipientMayReachSomebody() {
        let unknown = UpstreamResult(.init(repeating: Self.unknown("ACCEPTED 0"), count: 3))
        let named = Self.result(#"{"RT":"0000","MESSAGE_ID":"1","ACCEPTED":0,"NOT_FOUND":[]}"#)
        #expect(named == UpstreamResult(.init(repeating: .unclear, count: 3), reference: "1"))
        #expect(Self.result(#"{"RT":"0000","ACCEPTED":0,"NOT_FOUND":[]}"#) == unknown)
        let listed = Self.result(#"{"RT":"0000","MESSAGE_ID":"1","ACCEPTED":0,"NOT_FOUND":["E12345","E77777"]}"#)
        #expect(listed == unknown)
        let plain = Self.result(#"{"rtCode":"0000"}"#)
        #expect(plain == UpstreamResult(.init(repeating: Self.accepted, count: 3)))
    }

    @Test(
        arguments: [
            ("2003", .tokenDead(since: Timestamp(milliseconds: 0))), ("1400", .credential), ("1036", .content),
            ("1305", .content), ("2001", .content), ("2002", .content), ("2004", .content),
        ] as [(String, Rejection.Scope)]
    )
    func aCodeHasItsScope(_ code: String, _ scope: Rejection.Scope) {
        let outcome = Outcome.rejected(Rejection(scope: scope, reason: code, status: 200))
        let result = Self.result("{\"RT\":\"\(code)\",\"RT_MSG\":\"x\"}")
        #expect(result == UpstreamResult(.init(repeating: outcome, count: 3)))
    }

    // It may have been sent, so that it is never sent again.
    @Test(arguments: [
        #"{"RT":"9999","RT_MSG":"x"}"#, #"{"RT":"9998"}"#, #"{"RT":"7"}"#, #"{"RT":null}"#, #"{"RT":0}"#, "{}", "[]",
        "", "<html>",
    ])
    func anAnswerThatSaysNothingIsUnclear(_ body: String) {
        #expect(Self.result(body) == UpstreamResult(.init(repeating: .unclear, count: 3)))
    }

    @Test func theStatusDecidesBeforeTheBody() {
        func first(_ status: Int) -> Outcome? { Self.result(#"{"RT":"0000"}"#, status: status).outcomes.first }
        #expect(first(400) == .rejected(Rejection(scope: .content, reason: "HTTP 400", status: 400)))
        #expect(first(401) == .rejected(Rejection(scope: .credential, reason: "HTTP 401", status: 401)))
        #expect(first(429) == .deferred(Rejection(scope: .service, reason: "HTTP 429", status: 429), after: nil))
        for status in [201, 302, 500, 503] { #expect(first(status) == .unclear) }
    }

    /// Bounded by `GATEWAY_FUZZ_COUNT`; the seed is in the failure.
    @Test func mutatedAnswersAreOutcomes() throws {
        let answer = try #require(try Fixture.calls("send.txt").first).response
        let failure = Array(#"{"RT":"2003","RT_MSG":"NOT REGISTERED","rtCode":"2003","error":"NOT REGISTERED"}"#.utf8)
        let answers = [JSONWriter.bytes(answer), failure]
        #expect(UpstreamContract.mutationFault(Mount.adapter, to: Self.call, answers: answers) == nil)
        var unnamed = Self.call
        unnamed.names = []
        #expect(UpstreamContract.mutationFault(Mount.adapter, to: unnamed, answers: answers) == nil)
    }
}
