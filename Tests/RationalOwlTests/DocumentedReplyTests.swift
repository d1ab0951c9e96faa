import Coverage
import FoundationEssentials
import HTTPTypes
import Model
import RationalOwl
import Testing

/// One documented answer: the request, the replies of its commands, and the answer that the client must get.
struct DocumentedReply: Sendable, CustomTestStringConvertible {
    var fixture: String
    /// The name of a fixture, or a path and a body of this test where the contract has no request for the answer.
    var request: String
    var body: String?
    var headers: [String: String] = [:]
    var reply: Reply
    var settings = Sample.usRid
    var status = 200

    var testDescription: String { fixture }
}

/// Every answer of docs/contracts/rationalowl.md#5 to 8 and docs/contracts/rationalowl.md#11: equal in status, content type and parsed body,
/// including types and without additional keys.
struct DocumentedReplyTests {
    static let android = ["User-Agent": "okhttp/4.9.1"]
    static let unknownAccount = "00000000-0000-0000-0000-000000000000"
    static let device = Registered(
        identity: IdentityID(UUID()),
        device: DeviceID(UUID()),
        key: "d0d1d2d3d4d5d6d7d8d9dadbdcdddedf",
        platform: .ios,
        wasActive: false
    )

    static func registered(again: Bool) -> Reply {
        var device = device
        device.wasActive = again
        return .registration(.registered(device))
    }

    static func info(_ fallback: JSON?, _ platform: Platform?) -> Reply {
        .inbox(
            .deliveryInfo(
                DeliverySnapshot(
                    message: MessageID(UUID()),
                    target: TargetID(UUID()),
                    state: .sent,
                    fallback: fallback
                ),
                platform: platform
            )
        )
    }

    /// Alimtalk failed, then an LMS was delivered.
    static let alimtalkThenText: JSON = [
        "a": ["s": 3, "st": 1_731_999_999_123], "m": ["t": 13, "s": 2, "st": 1_732_000_059_456],
    ]

    static func pushApp(_ call: String, account: String, rest: String) -> (path: String, body: String) {
        ("/pushApp/\(call)", "{\"aId\":\"\(account)\",\(rest)}")
    }

    static let device5: [DocumentedReply] = [
        // docs/contracts/rationalowl.md#5.1
        .init(
            fixture: "installApp/first-time.response.json",
            request: "installApp/vendor-document.request.json",
            reply: registered(again: false)
        ),
        .init(
            fixture: "installApp/already.response.json",
            request: "installApp/vendor-document.request.json",
            reply: registered(again: true)
        ),
        .init(
            fixture: "installApp/unknown-account.response.json",
            request: "/pushApp/installApp",
            body: "{\"cId\":303,\"aId\":\"\(unknownAccount)\",\"dt\":2,\"dRId\":\"d0\"}",
            reply: .refused(.unknownBinding),
            settings: .unbound
        ),
        .init(
            fixture: "installApp/missing-field.response.json",
            request: "/pushApp/installApp",
            body: "{\"cId\":303,\"aId\":\"\(Sample.account)\",\"dt\":2}",
            reply: registered(again: false)
        ),
        .init(
            fixture: "installApp/unreadable.response.json",
            request: "/pushApp/installApp",
            body: "not json",
            reply: registered(again: false),
            status: 400
        ),
        // docs/contracts/rationalowl.md#5.2
        .init(
            fixture: "unregUser/device.response.json",
            request: "unregUser/device.request.json",
            reply: .registration(.unregistered(1))
        ),
        .init(
            fixture: "unregUser/phone.response.json",
            request: "unregUser/phone.request.json",
            reply: .registration(.unregistered(2))
        ),
        .init(
            fixture: "unregUser/unknown-account.response.json",
            request: "/pushApp/unregUser",
            body: "{\"cId\":305,\"aId\":\"\(unknownAccount)\",\"dRId\":\"\(Sample.device)\"}",
            reply: .refused(.unknownBinding),
            settings: .unbound
        ),
        .init(
            fixture: "unregUser/missing-field.response.json",
            request: "/pushApp/unregUser",
            body: "{\"cId\":305,\"aId\":\"\(Sample.account)\",\"dRId\":\"\"}",
            reply: .registration(.unregistered(0))
        ),
        // docs/contracts/rationalowl.md#5.3
        .init(
            fixture: "reqAuthNumber/sent.response.json",
            request: "reqAuthNumber/phone.request.json",
            reply: .registration(.verificationSent)
        ),
        .init(
            fixture: "reqAuthNumber/not-sent.response.json",
            request: "reqAuthNumber/phone.request.json",
            reply: .refused(.unsupported("verification"))
        ),
        // docs/contracts/rationalowl.md#5.4: `dt` is 2 in the example; for an Android client it is 1.
        .init(
            fixture: "verifyAuthNumber/right-ios.response.json",
            request: "verifyAuthNumber/code.request.json",
            reply: .registration(.verified(true, platform: .ios))
        ),
        .init(
            fixture: "verifyAuthNumber/right-android.response.json",
            request: "/pushApp/verifyAuthNumber",
            body: "{\"cId\":302,\"aId\":\"\(Sample.account)\",\"dt\":1,\"pn\":\"01022221111\",\"an\":\"1111\"}",
            reply: .registration(.verified(true, platform: nil))
        ),
        .init(
            fixture: "verifyAuthNumber/wrong-ios.response.json",
            request: "verifyAuthNumber/code.request.json",
            reply: .registration(.verified(false, platform: nil))
        ),
        .init(
            fixture: "verifyAuthNumber/wrong-android.response.json",
            request: "/pushApp/verifyAuthNumber",
            body: "{\"cId\":302,\"aId\":\"\(Sample.account)\",\"dt\":1,\"pn\":\"01022221111\",\"an\":\"9999\"}",
            reply: .registration(.verified(false, platform: nil))
        ),
    ]

    static let messages5: [DocumentedReply] = [
        // docs/contracts/rationalowl.md#5.6
        .init(
            fixture: "msgInfo/fallback-ios.response.json",
            request: "msgInfo/vendor-document.request.json",
            reply: info(alimtalkThenText, .ios)
        ),
        .init(
            fixture: "msgInfo/fallback-android-legacy.response.json",
            request: "msgInfo/vendor-document.request.json",
            reply: info(alimtalkThenText, .android)
        ),
        .init(
            fixture: "msgInfo/fallback-android.response.json",
            request: "msgInfo/current.request.json",
            reply: info(alimtalkThenText, .android)
        ),
        .init(
            fixture: "msgInfo/push-only.response.json",
            request: "msgInfo/current.request.json",
            reply: info(nil, .ios)
        ),
        .init(
            fixture: "msgInfo/unknown-message.response.json",
            request: "/pushApp/msgInfo",
            body:
                "{\"aId\":\"\(Sample.account)\",\"dRId\":\"d0\",\"mId\":\"11111111-2222-3333-4444-555555555555\"}",
            reply: .refused(.unknownMessage)
        ),
        .init(
            fixture: "msgInfo/unknown-account.response.json",
            request: "/pushApp/msgInfo",
            body: "{\"aId\":\"\(unknownAccount)\",\"dRId\":\"d0\",\"mId\":\"\(Sample.messageText)\"}",
            reply: .refused(.unknownBinding),
            settings: .unbound
        ),
        // docs/contracts/rationalowl.md#5.7: the bytes behind the documented base64.
        .init(
            fixture: "imgData/found.response.json",
            request: "imgData/image.request.json",
            reply: .media(.bytes(jpeg, contentType: "image/jpeg"))
        ),
        .init(
            fixture: "imgData/unknown-image.response.json",
            request: "imgData/image.request.json",
            reply: .refused(.unknownMedia)
        ),
        .init(
            fixture: "imgData/unknown-account.response.json",
            request: "/pushApp/imgData",
            body: "{\"aId\":\"\(unknownAccount)\",\"iId\":\"9d\",\"mId\":\"\(Sample.messageText)\"}",
            reply: .refused(.unknownBinding),
            settings: .unbound
        ),
    ]

    /// The JPEG header in docs/contracts/rationalowl.md#5.7, decoded by hand from its base64.
    static let jpeg: [UInt8] = [
        0xFF, 0xD8, 0xFF, 0xE0, 0x00, 0x10, 0x4A, 0x46, 0x49, 0x46, 0x00, 0x01, 0x01, 0x01, 0x00, 0x60, 0x00, 0x60,
        0x00,
        0x00, 0xFF, 0xDB, 0x00, 0x43, 0x00, 0x03, 0x02, 0x02, 0x03, 0x02, 0x02, 0x03, 0x03, 0x03, 0x03, 0x04, 0x03,
        0x03,
        0x04, 0x05, 0x08, 0x05, 0x05, 0x04, 0x04, 0x05, 0x0A, 0x07, 0x07, 0x06, 0x08, 0x0C, 0x0A, 0x0C, 0x0C, 0x0B,
        0x0A,
        0x0B, 0x0B, 0x0D, 0x0E, 0x12, 0x10, 0x0D, 0x0E, 0x11, 0x0E, 0x0B, 0x0B, 0x10, 0x16, 0x10, 0x11, 0x13, 0x14,
    ]

    static let shimAndSender: [DocumentedReply] = [
        // docs/contracts/rationalowl.md#7.4
        .init(
            fixture: "deviceRegister/new.response.json",
            request: "deviceRegister/device.request.json",
            reply: registered(again: false)
        ),
        .init(
            fixture: "deviceState/active.response.json",
            request: "/ro/v1/device/state",
            body: "{\"sId\":\"\(Sample.service)\",\"dRId\":\"\(Sample.device)\",\"state\":\"active\"}",
            reply: .inbox(
                .undelivered([
                    InboxEntry(
                        notification: Notification(
                            message: MessageID(text: Sample.messageText) ?? MessageID(UUID()),
                            origin: .rationalOwl,
                            content: Content(title: "공지", body: "공지사항입니다~"),
                            sentAt: Timestamp(milliseconds: 1_731_999_999_123)
                        ),
                        sender: SenderID(Sample.server)
                    )
                ])
            )
        ),
        // docs/contracts/rationalowl.md#8.1, docs/contracts/rationalowl.md#11
        .init(
            fixture: "serverRegister/registered.response.json",
            request: "serverRegister/server.request.json",
            headers: ["Host": "gw.example.com:8006"],
            reply: .sender(.registered(SenderID(Sample.server)))
        ),
        .init(
            fixture: "serverRegister/unknown-service.response.json",
            request: "serverRegister/server.request.json",
            reply: .refused(.unknownBinding),
            settings: .unbound
        ),
        // docs/contracts/rationalowl.md#8.2
        .init(
            fixture: "clientRegister/new.response.json",
            request: "clientRegister/client.request.json",
            reply: .sender(.enrolled(key: "c0c1c2c3c4c5c6c7c8c9cacbcccdcecf", isNew: true))
        ),
        .init(
            fixture: "clientRegister/already.response.json",
            request: "clientRegister/client.request.json",
            reply: .sender(.enrolled(key: "c0c1c2c3c4c5c6c7c8c9cacbcccdcecf", isNew: false))
        ),
        .init(
            fixture: "clientRegister/unknown-account.response.json",
            request: "clientRegister/client.request.json",
            reply: .refused(.unknownBinding),
            settings: .unbound
        ),
        .init(
            fixture: "clientRegister/missing-field.response.json",
            request: "/msgClient/register",
            body: "{\"cId\":1,\"r\":1,\"t\":12,\"aId\":\"\(Sample.account)\",\"ip\":\"203.0.113.10\"}",
            reply: .sender(.enrolled(key: "c0", isNew: true))
        ),
        // docs/contracts/rationalowl.md#8.3, docs/contracts/rationalowl.md#8.4, docs/contracts/rationalowl.md#8.5
        .init(
            fixture: "sendByPhoneNumber/accepted.response.json",
            request: "sendByPhoneNumber/simple.request.json",
            reply: .submission(.accepted(MessageID(text: Sample.messageText) ?? MessageID(UUID()), recipients: 2))
        ),
        .init(
            fixture: "sendByPhoneNumber/unknown-sender.response.json",
            request: "sendByPhoneNumber/simple.request.json",
            reply: .refused(.unknownSender)
        ),
        .init(
            fixture: "sendByDeviceID/accepted.response.json",
            request: "sendByDeviceID/devices.request.json",
            reply: .submission(
                .accepted(MessageID(text: "7a1d5a3f-2f0b-4f0e-8f60-0f2a0b8d9e22") ?? MessageID(UUID()), recipients: 2)
            )
        ),
        .init(
            fixture: "setCallbackURL/set.response.json",
            request: "setCallbackURL/set.request.json",
            reply: .sender(.callbackSet)
        ),
    ]

    static let all = device5 + messages5 + shimAndSender

    @Test(
        .covers(
            "rationalowl",
            "/pushApp/installApp",
            "/pushApp/unregUser",
            "/pushApp/verifyAuthNumber",
            "/pushApp/imgData",
            "/ro/v1/device/register",
            "/msgClient/register",
            "/msgClient/msgClientSendMsgByPhoneNum",
            "/msgClient/msgClientSendMsgByDeviceId",
            "/msgClient/setCallbackUrl",
            "/server/register/"
        ),
        .covers(
            "rationalowl",
            "/pushApp/reqAuthNumber",
            partial: "no text message is sent: only phones with a code in `auth.testCodes` can be verified"
        ),
        .covers(
            "rationalowl",
            "/pushApp/msgInfo",
            partial: "the states of the fallback are always 0, because the gateway has no fallback engine"
        ),
        arguments: all
    )
    func documentedReplyIsAnsweredAsDocumented(_ documented: DocumentedReply) throws {
        let request =
            if let body = documented.body {
                Mount.request(documented.request, headers: documented.headers, body: Array(body.utf8))
            } else {
                try Mount.documented(documented.request, headers: documented.headers)
            }
        let answer = Mount.answer(request, documented.reply, settings: documented.settings)
        #expect(answer.status == documented.status)
        #expect(answer.headers[.contentType] == "application/json; charset=utf-8")
        #expect(try Mount.body(answer) == (try Fixture.json(documented.fixture)))
    }

    /// docs/contracts/rationalowl.md#5.5: exactly two bytes, plain text.
    @Test(
        .covers("rationalowl", "/pushApp/notiRead"),
        arguments: ["notiRead/vendor-document.request.json", "notiRead/current.request.json"]
    )
    func notiReadAnswersTwoBytesOfPlainText(fixture: String) throws {
        let answer = Mount.answer(try Mount.documented(fixture), .receipt(.recorded))
        #expect(answer.status == 200)
        #expect(answer.headers[.contentType] == "text/plain; charset=utf-8")
        #expect(answer.body == (try Fixture.bytes("notiRead/ok.response.txt")))
        #expect(answer.body == [0x6F, 0x6B])
    }

    /// I11: no documented answer without a test.
    @Test func everyMappedAnswerHasATest() throws {
        let answers = try Fixture.mappedFiles().filter { $0.contains(".response.") }
        #expect(answers == Set(Self.all.map(\.fixture) + ["notiRead/ok.response.txt"]))
        #expect(answers.count == 37)
    }
}
