package import Model

extension RationalOwlAdapter: StoryVendor {
    package func story(_ identifiers: any IdentifierSource) -> any VendorStory { RationalOwlStory(identifiers) }
}

/// The self-test, in the sequence of the vendor document: a back end enrols, four phones install the app, messages, receipts, history; then the same
/// phones through the native API.
struct RationalOwlStory: VendorStory {
    let title = "RationalOwl UMS"
    private let identifiers: any IdentifierSource
    private let account: String
    private let service: String

    /// Four phones with the app; the fifth number has no app.
    private static let phones = ["01011111111", "01022222222", "01033333333", "01044444444"]
    private static let strangerPhone = "01099999999"
    /// A PNG of one transparent pixel, 70 bytes.
    private static let dot =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

    private struct Device {
        let key: String
        let token: String
        let phone: String
    }

    init(_ identifiers: any IdentifierSource) {
        self.identifiers = identifiers
        account = identifiers.uuid(at: Timestamp(milliseconds: 1_700_000_000_000)).lowercased
        service = identifiers.randomHex(byteCount: 16)
    }

    /// The back end sends the vendor's calls unchanged, so its network is its proof.
    var binding: JSON? {
        [
            "accountId": .string(account), "serviceId": .string(service), "senders": [["name": "shop backend 1"]],
            "settings": ["senderNetworks": ["127.0.0.1"]],
        ]
    }

    func play(_ stage: any StoryStage) async throws {
        let before = try await stage.simulatorCounts()
        let sender = try await enrol(stage)
        let devices = try await install(stage)
        let first = try await sendByPhone(stage, sender)
        try await receipts(stage, first, devices)
        try await history(stage, first, devices)
        let native = try await sendNatively(stage)
        let lost = try await deadToken(stage, devices)
        let messages = [("by phone number", first), ("native", native)] + lost.map { ("to a dead token", $0) }
        try await stage.compare(messages, since: before)
    }

    // MARK: Steps

    private func enrol(_ stage: any StoryStage) async throws -> String {
        stage.say("The shop's back end registers, as the vendor documents it")
        let register = Self.call(
            "/server/register/",
            ["serviceId": .string(service), "registerName": "shop backend 1", "privateNetwork": 1]
        )
        let server = try await stage.call(register) { $0.json?["serverRegId"] == nil }.json ?? .null
        let sender = try stage.text(server, "serverRegId")
        let enrolled = try await stage.json(
            Self.call(
                "/msgClient/register",
                [
                    "cId": 1, "r": 1, "t": 12, "sId": .string(service), "rId": .string(sender),
                    "aId": .string(account),
                    "ip": "203.0.113.10", "mcn": "shop backend 1",
                ]
            )
        )
        try stage.expect(enrolled["rc"]?.int == 1, "msgClient/register answers rc 1")
        return sender
    }

    private func install(_ stage: any StoryStage) async throws -> [Device] {
        stage.say("Four iPhones install the app: POST /pushApp/installApp over TLS")
        var devices: [Device] = []
        for phone in Self.phones {
            let token = identifiers.randomHex(byteCount: 32)
            let key = identifiers.randomHex(byteCount: 16)
            let answer = try await stage.json(
                Self.call(
                    "/pushApp/installApp",
                    [
                        "cId": 303, "aId": .string(account), "dt": 2, "dRId": .string(key), "pn": .string(phone),
                        "n": "홍길동", "tk": .string(token), "env": "prod",
                    ],
                    usesTLS: true
                )
            )
            try stage.expect(answer["rc"]?.int == 1, "installApp answers rc 1")
            devices.append(Device(key: key, token: token, phone: phone))
        }
        return devices
    }

    private func sendByPhone(_ stage: any StoryStage, _ sender: String) async throws -> String {
        stage.say("The back end sends to five phone numbers with an image; one has no app")
        let answer = try await stage.json(
            Self.call(
                "/msgClient/msgClientSendMsgByPhoneNum",
                [
                    "rId": .string(sender), "aId": .string(account), "ip": "203.0.113.10",
                    "msg": ["title": "공지", "body": "공지사항입니다~"],
                    "dest": ["t": 2, "tg": .array((Self.phones + [Self.strangerPhone]).map { ["pn": .string($0)] })],
                    "img": ["imgN": "dot.png", "imgD": .string(Self.dot), "imgS": 70],
                ]
            )
        )
        let id = try stage.text(answer, "mId")
        let message = try await stage.settled(id)
        try stage.expect(message["funnel"]?["sent"]?.int == 4, "four pushes were accepted")
        try stage.expect(message["funnel"]?["suppressed"]?.int == 1, "the number without app is suppressed")
        return id
    }

    private func receipts(_ stage: any StoryStage, _ message: String, _ devices: [Device]) async throws {
        stage.say("The push that the simulator received for the first phone")
        guard let push = try await stage.pushes(to: devices[0].token).last, let payload = push["payload"] else {
            throw stage.failure("the simulator received no push to that token")
        }
        stage.show(payload)
        try stage.expect(payload["mId"]?.string == message, "the payload contains the message id")
        try stage.expect(push["headers"]?["apns-collapse-id"]?.string == message, "the collapse id is the message id")

        stage.say("Two phones report delivery, one opens it and fetches the image")
        for device in devices.prefix(2) {
            let answer = try await stage.json(
                Self.call(
                    "/ro/v1/noti/delivered",
                    ["sId": .string(service), "dRId": .string(device.key), "mId": .string(message)],
                    usesTLS: true
                )
            )
            try stage.expect(answer["rc"]?.int == 1, "noti/delivered answers rc 1")
        }
        let read = try await stage.call(
            Self.call(
                "/pushApp/notiRead",
                ["cId": 311, "aId": .string(account), "dRId": .string(devices[0].key), "mId": .string(message)],
                usesTLS: true
            )
        )
        try stage.expect(read.text == "ok", "notiRead answers ok")
        let image = try await stage.json(
            Self.call(
                "/pushApp/imgData",
                ["cId": 313, "aId": .string(account), "iId": payload["ii"] ?? "", "mId": .string(message)],
                usesTLS: true
            )
        )
        try stage.expect(image["imgD"]?.string == Self.dot, "imgData returns the image")
        let info = try await stage.json(
            Self.call(
                "/pushApp/msgInfo",
                ["cId": 312, "aId": .string(account), "dRId": .string(devices[0].key), "mId": .string(message)],
                usesTLS: true
            )
        )
        try stage.expect(info["rc"]?.int == 1 && info["ms"]?.int == 0, "msgInfo: no fallback was sent")
    }

    private func history(_ stage: any StoryStage, _ message: String, _ devices: [Device]) async throws {
        stage.say("A phone that reported nothing opens the app and fetches the missed messages through the SDK shim")
        let answer = try await stage.json(
            Self.call(
                "/ro/v1/device/state",
                ["sId": .string(service), "dRId": .string(devices[2].key), "state": "active"],
                usesTLS: true
            )
        )
        try stage.expect(answer["undelivered"]?.array?.count == 1, "one undelivered message")
        stage.say("The same history through the native API")
        let list = try await stage.native("GET", "/v1/devices?app=shop")
        guard let id = list["devices"]?.array?.first?["id"]?.string else {
            throw stage.failure("/v1/devices lists no device")
        }
        let inbox = try await stage.native("GET", "/v1/devices/\(id)/inbox")
        try stage.expect(inbox["messages"]?.array?.first?["message"]?.string == message, "the inbox holds the message")
    }

    private func sendNatively(_ stage: any StoryStage) async throws -> String {
        stage.say("The same phones through the native API: POST /v1/messages")
        let answer = try await stage.native(
            "POST",
            "/v1/messages",
            [
                "app": "shop", "to": ["phones": .array(Self.phones.map { .string($0) })], "title": "Sale",
                "body": "Everything must go",
            ]
        )
        let id = try stage.text(answer, "id")
        let message = try await stage.settled(id)
        try stage.expect(message["funnel"]?["sent"]?.int == 4, "four pushes were accepted")
        return id
    }

    private func deadToken(_ stage: any StoryStage, _ devices: [Device]) async throws -> [String] {
        stage.say("One phone deletes the app: Apple answers 410 Unregistered, and the token is not used again")
        let left = stage.now.milliseconds + 1000
        try await stage.script([
            [
                "token": .string(devices[3].token), "status": 410, "reason": "Unregistered", "timestamp": .int(left),
                "times": 1,
            ]
        ])
        var messages: [String] = []
        for expected in ["failed", "suppressed"] {
            let answer = try await stage.native(
                "POST",
                "/v1/messages",
                [
                    "app": "shop", "to": ["phones": [.string(Self.phones[3])]], "title": "Are you there?",
                    "body": "Hello",
                ]
            )
            let id = try stage.text(answer, "id")
            let message = try await stage.settled(id)
            try stage.expect(message["funnel"]?[expected]?.int == 1, "the delivery is \(expected)")
            messages.append(id)
        }
        return messages
    }

    // MARK: Helpers

    private static func call(_ path: String, _ body: JSON, usesTLS: Bool = false) -> StoryCall {
        StoryCall("POST", path, .json(body), usesTLS: usesTLS)
    }
}
