import FoundationEssentials
import HTTPTypes
import Model
import TestKit
import Testing

@testable import UPMC

/// Sends through the vendor's own service: the calls that leave, and the content that survives.
struct UpstreamSendTests {
    static let byUser = UpstreamSettings(vendor: .upmc, values: ["byDevice": false])
    static let byDevice = UpstreamSettings(vendor: .upmc, values: ["byDevice": true])

    /// A token with the number `number`.
    static func token(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    static func target(_ user: String?, token number: Int? = nil, variables: JSONObject = [:]) -> TargetFacts {
        var facts = TargetFacts(
            target: TargetID(UUID()),
            identity: IdentityID(UUID()),
            device: nil,
            app: "shop",
            vendor: .upmc,
            key: VendorDeviceKey("APNS:\(number ?? 0)"),
            person: TargetPerson(user: user.map { UserID($0) }),
            destination: PushDestination(
                platform: .ios,
                environment: .production,
                token: number.map { DeviceToken(stored: token($0)) },
                tokenState: number == nil ? .none : .active
            )
        )
        facts.variables = variables
        return facts
    }

    static func notification(_ content: Content, origin: Vendor = .upmc) -> Model.Notification {
        Model.Notification(message: MessageID(UUID()), origin: origin, content: content, sentAt: Mount.now)
    }

    static func calls(
        _ content: Content,
        _ targets: [TargetFacts],
        _ upstream: UpstreamSettings = byDevice,
        _ settings: BindingSettings = Mount.settings(),
        origin: Vendor = .upmc
    ) throws(AdapterError) -> [UpstreamCall] {
        let message = notification(content, origin: origin)
        return try Mount.adapter.outbound(message, to: targets, through: upstream, settings: settings, at: Mount.now)
    }

    static func submission(_ request: VendorRequest, _ settings: BindingSettings = Mount.settings()) throws
        -> Submission
    {
        guard case .submission(.submit(let submission))? = try Mount.command(request, settings) else {
            throw AdapterError(.notFound)
        }
        return submission
    }

    /// The decoded parameters of a form.
    private static func pairs(_ request: VendorRequest) -> Set<String> {
        Set(request.body.split(separator: UInt8(ascii: "&")).compactMap { PercentCoding.decode($0, plusIsSpace: true) })
    }

    // docs/contracts/upmc.md#1.9.1: to a server that knows no devices, the documented call leaves as it is.
    @Test func theCallIsTheDocumentedOne() throws {
        let documented = try Fixture.request("rcv_register_message/users.request.txt")
        let request = Mount.request(documented.path, documented.form)
        let sent = try Self.submission(request)
        let targets = ["hong", "kim", "nobody"].map { Self.target($0) }
        let calls = try Self.calls(sent.content, targets, Self.byUser)
        let call = try #require(calls.first)
        #expect(calls.count == 1 && call.targets == [0, 1, 2] && call.names == ["hong", "kim", "nobody"])
        #expect(Self.pairs(call.request) == Self.pairs(request))
        #expect(call.request.path == documented.path && call.request.method == .post)
        #expect(try Self.submission(call.request) == sent)
    }

    // docs/contracts/upmc.md#1.9.1: single devices of a user.
    @Test func devicesAreNamedByTheirTokens() throws {
        let targets = [
            Self.target("hong", token: 1), Self.target("kim", token: 2), Self.target("hong", token: 3),
            // A guest, and a device whose token is not known, are in no call.
            Self.target(nil, token: 4), Self.target("lee"),
        ]
        let calls = try Self.calls(Content(body: "b"), targets)
        #expect(UpstreamContract.fault(calls, of: targets.count) == nil)
        let call = try #require(calls.first)
        #expect(calls.count == 1 && call.targets == [0, 2, 1] && call.names == ["hong", "hong", "kim"])
        let received = try Self.submission(call.request)
        #expect(received.audience == .users(["hong", "kim"]))
        #expect(received.numbering?.tokens?.map(\.text) == [1, 2, 3].map { Self.token($0) })
    }

    /// The forms of the contract's table, and of docs/contracts/upmc.md#1.8.13.
    private static let forms = [
        "MESSAGE=Hello",
        "MESSAGE=%7B%22title%22%3A%22Notice%22%2C%22body%22%3A%22a%0Ab%22%7D",
        // Encoded twice: the receiver decodes it again.
        "MESSAGE=%25EA%25B3%25B5%25EC%25A7%2580",
        // Decoded twice, it is still `50%25off`, which another decoding would change.
        "MESSAGE=50%252525off",
        "MESSAGE=%7B%22body%22%3A%22only%20a%20body%22%7D",
        "MESSAGE=%7B%22other%22%3A1%7D",
        "MESSAGE=Hi%20%25CNAME%25&TEMPLATE_YN=Y",
        "MESSAGE=m&BADGENO=7&SOUNDFILE=alert.aif&DB_IN=N&SENDERCODE=device-ios&SERVICECODE=0002",
        "MESSAGE=m&PRIORITY=1&SERVICECODE=PUBLIC",
        "MESSAGE=m&EXT=http%3A%2F%2Fdomain%3A8080%2Fresources%2FtotalInfo%2F0414172200_msp.html&SERVICECODE=ALL2",
        "MESSAGE=m&EXT=1%7Ctext%7Chttps%3A%2F%2Fimg.example.com%2Fa.jpg%7Chttps%3A%2F%2Fexample.com",
        "MESSAGE=m&PUSH_FAIL_SMS_SEND=Y&SMS_READ_WAIT_MINUTE=5",
        "MESSAGE=m&PUSH_FAIL_SMS_SEND=N&SMS_READ_WAIT_MINUTE=0",
        "MESSAGE=m&RESERVEDATE=20160415%20000000&SPLIT_MSG_CNT=100&DELAY_SECOND=1",
        "MESSAGE=m&REQ_PSIDS=%5B%22\(token(1))%22%5D",
        // Without effect: only the answer repeats the first two.
        "MESSAGE=m&CUST_KEY=k&CUST_VAR1=v&SEND_TIME_LIMIT=10",
    ]
    /// The calls and audiences with which each form is sent.
    private static let endings = [
        (name: "rcv_register_message", form: "&TYPE=E&CUID=hong"),
        (name: "rcv_register_message", form: "&TYPE=S&CUID=hong"),
        (name: "rcv_register_groupmessage", form: "&TYPE=A&GROUPSEQ="),
        (name: "rcv_register_groupmessage", form: "&TYPE=G&GROUPSEQ=12"),
    ]

    // docs/contracts/upmc.md#1.9.1
    @Test func theFormsHaveEveryDocumentedParameter() throws {
        let documented = try ContractPage("upmc").rows(of: "1.9.1").filter { $0.first?.isUppercase ?? false }
        let pairs = (Self.forms + Self.endings.map { $0.form }).flatMap { $0.split(separator: "&") }
        let used = Set(pairs.map { String($0.prefix { $0 != "=" }) })
        #expect(documented.count > 20)
        // All calls have the name of the app.
        #expect(Set(documented).subtracting(used) == ["APP_ID"])
    }

    @Test(arguments: forms, ["3.0", "4.0", "4.0EE", "5.1"])
    func theContentOfADocumentedSendSurvives(_ form: String, _ version: String) throws {
        let settings = Mount.settings(version)
        for (name, ending) in Self.endings {
            // The contract requires the codes of service and sender.
            let service = form.contains("SERVICECODE") ? "" : "&SERVICECODE=ALL"
            let call = Mount.call(name, "APP_ID=com.example.app&\(form)\(ending)\(service)")
            let sent = try Self.submission(call, settings)
            let upstream = form.contains("SMS_") ? Self.byUser : Self.byDevice
            let calls = try Self.calls(sent.content, [Self.target("hong", token: 1)], upstream, settings)
            let received = try Self.submission(try #require(calls.first).request, settings)
            #expect(received.content == sent.content)
            // It leaves when it is due, in the steps of the gateway.
            #expect(received.timing.dueAt == nil && received.numbering?.pace == nil)
        }
    }

    // docs/contracts/upmc.md#1.9.3: the rows of a list, with the variables of each user.
    @Test func aListKeepsItsRows() throws {
        let rows = "hong,\"Hong, Gildong\",x,\"a \"\"quoted\"\" word\"\r\nkim\r\nlee,Lee\r\n"
        let fields = [
            ("TYPE", "C"), ("APP_ID", "com.example.app"), ("MESSAGE", "%CNAME% %VAR1%"), ("TEMPLATE_YN", "Y"),
            ("SERVICECODE", "ALL"),
        ]
        var body = fields.map { "--B\r\nContent-Disposition: form-data; name=\"\($0.0)\"\r\n\r\n\($0.1)\r\n" }.joined()
        body += "--B\r\nContent-Disposition: form-data; name=\"upload_file\"; filename=\"l.csv\"\r\n\r\n"
        body += "\(rows)\r\n--B--\r\n"
        let type = "multipart/form-data; boundary=B"
        let sent = try Self.submission(
            Mount.request("/upmc/rcv_register_csvmessage.ctl", body, contentType: type)
        )
        let variables = try #require(sent.numbering?.variables)
        #expect(variables.map(\.user) == ["hong", "kim", "lee"])
        let targets = variables.enumerated().map { index, row in
            Self.target(row.user.rawValue, token: index, variables: row.values)
        }
        let calls = try Self.calls(sent.content, targets)
        #expect(calls.count == 1 && UpstreamContract.fault(calls, of: 3) == nil)
        let call = try #require(calls.first)
        #expect(call.request.path == "/upmc/rcv_register_csvmessage.ctl" && call.names == ["hong", "kim", "lee"])
        let received = try Self.submission(call.request)
        #expect(received.content == sent.content && received.audience == sent.audience)
        #expect(received.numbering?.variables == variables)
        #expect(received.numbering?.tokens?.count == 3)
        // A cell cannot end its row.
        let broken = Self.target("park", token: 9, variables: ["CNAME": "a\r\nmallory,\"b\""])
        let repaired = try Self.submission(try #require(try Self.calls(sent.content, [broken]).first).request)
        #expect(repaired.audience == .users(["park"]))
        #expect(repaired.numbering?.variables.first?.values == ["CNAME": "a mallory,\"b\""])
    }

    // Where devices are named, those of a user may be in several calls, and each would cause a text message that is charged.
    @Test func textMessagesAreRequestedForWholeUsersOnly() throws {
        let content = Content(body: "b", data: ["smsOnFailure": "Y", "smsReadWait": "5"])
        let targets = [Self.target("hong", token: 1)]
        let whole = Self.pairs(try #require(try Self.calls(content, targets, Self.byUser).first).request)
        #expect(whole.isSuperset(of: ["PUSH_FAIL_SMS_SEND=Y", "SMS_READ_WAIT_MINUTE=5"]))
        let single = Self.pairs(try #require(try Self.calls(content, targets).first).request)
        #expect(single.contains("PUSH_FAIL_SMS_SEND=N"))
        #expect(!single.contains { $0.hasPrefix("SMS_READ_WAIT_MINUTE") })
    }

    // MARK: Size

    @Test func manyTargetsAreDividedAmongCalls() throws {
        var targets = (0..<2500).map { (index: Int) in Self.target("u\(index)", token: index) }
        targets.append(Self.target("u0", token: 9999))
        let calls = try Self.calls(Content(body: "b"), targets)
        #expect(UpstreamContract.fault(calls, of: targets.count) == nil)
        #expect(Set(calls.flatMap(\.targets)) == Set(targets.indices))
        for call in calls {
            #expect(call.targets.count <= 1000 && call.request.body.count <= UPMCLimits.bodyBytes)
            #expect(try Self.submission(call.request).numbering?.tokens?.count == call.targets.count)
        }
        // All devices of a user are in one call, so that the vendor stores the message once.
        #expect(calls.first?.names.filter { $0 == "u0" }.count == 2)
    }

    @Test func longNamesMakeShorterCalls() throws {
        let name = String(repeating: "가", count: 40)
        let targets = (0..<1000).map { (index: Int) in Self.target("\(name)\(index)", token: index) }
        let body = String(repeating: "나", count: 10_000)
        let calls = try Self.calls(Content(body: body), targets, Self.byUser)
        #expect(calls.count > 1 && Set(calls.flatMap(\.targets)) == Set(targets.indices))
        for call in calls { #expect(call.request.body.count <= UPMCLimits.bodyBytes) }
    }

    // MARK: The vendor's server

    @Test(
        arguments: [
            ("/receiver", "/receiver/rcv_register_message.ctl"), ("/", "/rcv_register_message.ctl"),
            ("upmc/", "/upmc/rcv_register_message.ctl"), (nil, "/upmc/rcv_register_message.ctl"),
        ] as [(String?, String)]
    )
    func theServersPathIsASetting(_ base: String?, _ path: String) throws {
        var upstream = Self.byUser
        upstream.values["basePath"] = base.map { .string($0) }
        #expect(try Self.calls(Content(body: "b"), [Self.target("hong")], upstream).first?.request.path == path)
    }

    @Test func usersAreAddressedOnlyWhereTheServerKnowsNoDevices() {
        #expect(Mount.adapter.addressesUsers(Self.byUser))
        #expect(!Mount.adapter.addressesUsers(Self.byDevice))
        #expect(!Mount.adapter.addressesUsers(UpstreamSettings(vendor: .upmc)))
    }

    @Test func withoutAnApplicationNothingIsSent() throws {
        #expect(try Self.calls(Content(body: "b"), [Self.target("hong", token: 1)], Self.byDevice, .unbound).isEmpty)
        #expect(try Self.calls(Content(body: "b"), [Self.target(nil, token: 1)]).isEmpty)
    }

    // MARK: Content of other interfaces

    private static func received(_ content: Content) throws -> Submission {
        let calls = try calls(content, [target("hong", token: 1)], origin: .native)
        return try submission(try #require(calls.first).request)
    }

    @Test func aMessageOfAnotherInterfaceHasTitleTextAndData() throws {
        let content = Content(title: "t", subtitle: "s", body: "b", badge: 3, data: ["message": "x", "sender": "y"])
        let received = try Self.received(content)
        #expect(received.content.title == "t" && received.content.body == "b")
        #expect(received.content.data["sender"] == "admin" && received.content.data["serviceCode"] == "ALL")
        #expect(received.content.data["ext"] == .string(#"{"message":"x","sender":"y"}"#))
        #expect(received.content.badge == nil && received.content.badgeStep == nil)
    }

    // A text that looks like title and body stays a text.
    @Test func aTextIsNotReadAsTitleAndBody() throws {
        let text = #"{"title":"t","body":"b"}"#
        let received = try Self.received(Content(body: text))
        #expect(received.content.title == nil && received.content.body == text)
    }

    @Test func otherContentIsRefused() {
        var silent = Content(body: "b")
        silent.isSilent = true
        var activity = Content(body: "b")
        activity.activity = ActivityReference(.running, "game")
        var template = Content(body: "{{ name }}")
        template.isTemplate = true
        let long = String(repeating: "x", count: 33_000)
        let contents: [(Content, AdapterError)] = [
            (Content(raw: .object(JSONObject())), AdapterError(.invalid, field: "raw")),
            (silent, AdapterError(.invalid, field: "silent")),
            (activity, AdapterError(.invalid, field: "activity")),
            (template, AdapterError(.invalid, field: "TEMPLATE_YN")),
            (Content(body: ""), AdapterError(.missing, field: "MESSAGE")),
            (Content(body: long), AdapterError(.tooLarge, field: "MESSAGE")),
            (Content(body: "b", data: ["k": .string(long)]), AdapterError(.tooLarge, field: "EXT")),
        ]
        for (content, error) in contents {
            #expect(throws: error) { try Self.calls(content, [Self.target("hong", token: 1)], origin: .native) }
        }
    }

    // docs/contracts/upmc.md#1.10.1: an `EXT` that became a page is sent as its address.
    @Test func aPageIsSentAsItsAddress() throws {
        var content = Content(body: "b", data: ["ext": "", "sender": "admin"])
        content.page = PageReference(id: "0123", name: "0414172200_msp.html")
        let settings = Mount.settings("4.0EE", ["publicUrl": "https://push.example.com"])
        let calls = try Self.calls(content, [Self.target("hong", token: 1)], Self.byDevice, settings)
        let received = try Self.submission(try #require(calls.first).request, settings)
        #expect(received.content.data["ext"] == "https://push.example.com/r/0123/0414172200_msp.html")
    }
}
