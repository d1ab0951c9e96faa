import FoundationEssentials
import HTTPTypes
import Model
import RationalOwl
import TestKit
import Testing

/// Sends through the vendor's own service: the calls that leave, and the content that survives.
struct UpstreamSendTests {
    static let settings = BindingSettings(
        tenant: "acme",
        app: "shop",
        values: keyed(["accountId": .string(Sample.account)])
    )
    static let upstream = UpstreamSettings(vendor: .rationalOwl, secrets: ["serverRegId": "SVR-gateway"])
    private static let now = Timestamp(seconds: 1_732_000_000)

    static func target(_ key: String, phone: String? = nil) -> TargetFacts {
        TargetFacts(
            target: TargetID(UUID()),
            identity: IdentityID(UUID()),
            device: nil,
            app: "shop",
            vendor: .rationalOwl,
            key: VendorDeviceKey(key),
            person: TargetPerson(phone: phone),
            destination: PushDestination(platform: .ios, environment: .production, token: nil, tokenState: .none)
        )
    }

    static func notification(_ content: Content, origin: Vendor = .rationalOwl) -> Model.Notification {
        Model.Notification(message: MessageID(UUID()), origin: origin, content: content, sentAt: now)
    }

    static func calls(
        _ notification: Model.Notification,
        _ targets: [TargetFacts] = [target("d0"), target("d1")],
        _ upstream: UpstreamSettings = upstream
    ) throws(AdapterError) -> [UpstreamCall] {
        try Mount.adapter.outbound(notification, to: targets, through: upstream, settings: settings, at: now)
    }

    private static func submission(_ request: VendorRequest) throws -> Submission {
        guard case .submission(.submit(let submission))? = try Mount.adapter.decode(request, settings: settings).first
        else { throw AdapterError(.notFound) }
        return submission
    }

    /// The message that the gateway keeps of a submission.
    private static func message(_ submission: Submission) -> Model.Notification {
        var message = notification(submission.content)
        message.fallback = submission.fallback
        message.image = submission.image
        return message
    }

    private static let sends = [
        "sendByPhoneNumber/simple.request.json", "sendByPhoneNumber/everyone.request.json",
        "sendByPhoneNumber/everything.request.json", "sendByDeviceID/devices.request.json",
    ]

    // docs/contracts/rationalowl.md#8.3
    @Test func theDocumentedSendsHaveEveryField() throws {
        let names = try ContractPage("rationalowl").rows(of: "8.3").compactMap { name in
            name.split(separator: ".").last.map { "\"\($0)\"" }
        }
        let sends = try Self.sends.map { String(decoding: try Mount.documented($0).body, as: UTF8.self) }.joined()
        #expect(names.count > 12)
        // The two forms of an urgent message, which no example has: `anUrgentMessageStaysUrgent`.
        #expect(Set(names.filter { !sends.contains($0) }) == [#""type""#, #""u""#])
    }

    @Test(arguments: sends)
    func theContentOfADocumentedSendSurvives(_ fixture: String) throws {
        var request = try Mount.documented(fixture)
        if fixture.contains("everything") {
            // A template is refused before it becomes a message; the rest of the call is kept with a text of its own.
            let text = String(decoding: request.body, as: UTF8.self)
            let named = try #require(text.firstRange(of: #""tId":"77777777-8888-4999-8aaa-bbbbbbbbbbbb","#))
            let rest = text[named.upperBound...]
            let end = try #require(rest.firstIndex(of: "}"))
            let body = "\(text[..<named.lowerBound])\"body\":\"배송 안내\"\(rest[rest.index(after: end)...])"
            request.body = Array(body.utf8)
        }
        let sent = try Self.submission(request)
        let calls = try Self.calls(Self.message(sent))
        #expect(calls.count == 1 && UpstreamContract.fault(calls, of: 2) == nil)
        let call = try #require(calls.first)
        let received = try Self.submission(call.request)
        #expect(received.content == sent.content)
        #expect(received.fallback == sent.fallback)
        #expect(received.image?.bytes == sent.image?.bytes && received.image?.name == sent.image?.name)
        #expect(received.image?.statedSize == sent.image?.bytes.count)
        #expect(received.audience == .listed([Addressee(.deviceKey("d0")), Addressee(.deviceKey("d1"))]))
        // It leaves when it is due.
        #expect(received.timing.dueAt == nil && received.template == nil)
        #expect(received.sender == "SVR-gateway")
    }

    // docs/contracts/rationalowl.md#8.4: the documented call, with the gateway's own back end and without names.
    @Test func theCallIsTheDocumentedOne() throws {
        let request = try Mount.documented("sendByDeviceID/devices.request.json")
        let targets = [
            Self.target("d0d1d2d3d4d5d6d7d8d9dadbdcdddedf"), Self.target("d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1"),
        ]
        var upstream = UpstreamSettings(vendor: .rationalOwl, secrets: ["serverRegId": Sample.server])
        upstream.values["ip"] = "203.0.113.10"
        let call = try #require(try Self.calls(Self.message(Self.submission(request)), targets, upstream).first)
        let documented = String(decoding: request.body, as: UTF8.self).replacing(",\"un\":\"홍길동\"", with: "")
        #expect(try JSONParser.parse(call.request.body) == JSONParser.parse(documented))
        #expect(call.request.path == "/msgClient/msgClientSendMsgByDeviceId" && call.request.method == .post)
        #expect(call.request.headers[.contentType] == "application/json; charset=utf-8")
        #expect(Mount.route(for: call.request.path)?.name == call.request.route)
        // A credential without an address states one all the same.
        let plain = try #require(try Self.calls(Self.message(Self.submission(request)), targets).first)
        #expect(try JSONParser.parse(plain.request.body)["ip"] == "0.0.0.0")
    }

    @Test(arguments: [#""u":1"#, #""type":2"#]) func anUrgentMessageStaysUrgent(_ field: String) throws {
        let sent = try Self.submission(
            Mount.request(
                "/msgClient/sendMsgByDeviceId",
                body: Array(#"{"rId":"R","aId":"A","msg":{"body":"b",\#(field)},"dest":{"t":1}}"#.utf8)
            )
        )
        #expect(sent.content.isUrgent)
        let call = try #require(try Self.calls(Self.message(sent)).first)
        #expect(try Self.submission(call.request).content == sent.content)
    }

    // docs/contracts/rationalowl.md#8.3: 2,000 targets per call; a device is named once.
    @Test func manyTargetsAreDividedAmongCalls() throws {
        var targets = (0..<4001).map { Self.target("d\($0)") }
        targets.append(Self.target("d0"))
        targets.append(Self.target("", phone: "01011111111"))
        let calls = try Self.calls(Self.notification(Content(body: "b")), targets)
        #expect(UpstreamContract.fault(calls, of: targets.count) == nil)
        // A device without a key is in no call.
        #expect(Set(calls.flatMap(\.targets)) == Set(0..<4002))
        for call in calls {
            guard case .listed(let listed) = try Self.submission(call.request).audience else {
                Issue.record("no list")
                continue
            }
            #expect(listed.count <= 2000 && listed.count == Set(call.names).count)
        }
    }

    @Test func withoutABackEndOrAnAccountNothingIsSent() throws {
        let message = Self.notification(Content(body: "b"))
        #expect(try Self.calls(message, [Self.target("d0")], UpstreamSettings(vendor: .rationalOwl)).isEmpty)
        let unbound = try Mount.adapter.outbound(
            message,
            to: [Self.target("d0")],
            through: Self.upstream,
            settings: .unbound,
            at: Self.now
        )
        #expect(unbound.isEmpty)
        #expect(try Self.calls(message, []).isEmpty)
    }

    // MARK: Content that cannot be expressed

    @Test func otherContentIsRefused() throws {
        var silent = Content(body: "b")
        silent.isSilent = true
        var activity = Content(body: "b")
        activity.activity = ActivityReference(.running, "game")
        let long = String(repeating: "가", count: 1001)
        let contents: [(Content, AdapterError)] = [
            (Content(raw: ["aps": .object(JSONObject())]), AdapterError(.invalid, field: "raw")),
            (silent, AdapterError(.invalid, field: "silent")),
            (activity, AdapterError(.invalid, field: "activity")),
            (Content(body: ""), AdapterError(.missing, field: "msg.body")),
            // 2,000 bytes in CP949, two for each syllable.
            (Content(body: long), AdapterError(.tooLarge, field: "msg.body")),
            (Content(title: long, body: "b"), AdapterError(.tooLarge, field: "msg.title")),
            (Content(body: "b", media: MediaReference(id: "i", hash: "h")), AdapterError(.missing, field: "img.imgD")),
        ]
        for (content, error) in contents {
            #expect(throws: error) { try Self.calls(Self.notification(content)) }
        }
    }

    @Test func aMessageOfAnotherInterfaceHasItsTitleAndText() throws {
        var content = Content(title: "t", subtitle: "s", body: "", badge: 3, sound: "x.caf")
        content.data = keyed(["k": "v"])
        var message = Self.notification(content, origin: .native)
        message.fallback = ["s": 2, "t": 12, "sp": "0212345678"]
        let first = try #require(try Self.calls(message).first)
        #expect(try JSONParser.parse(first.request.body)["msg"] == ["body": "t"])
        // The request for a fallback has the format of the dialect in which the message was sent.
        #expect(try JSONParser.parse(first.request.body)["a"] == nil)
        message.content.body = "b"
        let second = try #require(try Self.calls(message).first)
        #expect(try JSONParser.parse(second.request.body)["msg"] == ["title": "t", "body": "b"])
    }

    @Test func anImageWithoutANameGetsOne() throws {
        var message = Self.notification(Content(body: "b", media: MediaReference(id: "i", hash: "h")))
        message.image = InlineImage(name: nil, bytes: [0x89, 0x50, 0x4E, 0x47, 1])
        let png = try #require(try Self.calls(message).first)
        let image = InlineImage(name: "image.png", bytes: [0x89, 0x50, 0x4E, 0x47, 1], statedSize: 5)
        #expect(try Self.submission(png.request).image == image)
        message.image = InlineImage(name: nil, bytes: [0xFF, 0xD8, 0xFF])
        let jpeg = try #require(try Self.calls(message).first)
        #expect(try JSONParser.parse(jpeg.request.body)["img"]?["imgN"] == "image.jpg")
    }
}
