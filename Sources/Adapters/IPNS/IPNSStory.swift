import ApplePayload
package import Model

extension IPNSAdapter: StoryVendor {
    package func story(_ identifiers: any IdentifierSource) -> any VendorStory { IPNSStory(identifiers) }
}

/// The self-test of an iPNS app and its back end: register, send, read, history, polling, settings.
struct IPNSStory: VendorStory {
    let title = "iPNS"
    private static let app = "hr.mobile"
    private let token: String

    init(_ identifiers: any IdentifierSource) { token = identifiers.randomHex(byteCount: 32) }

    /// The back end has an API key, so no network needs to be listed.
    var binding: JSON? { ["appId": .string(Self.app), "settings": ["senderNetworks": []]] }

    func play(_ stage: any StoryStage) async throws {
        try await register(stage)
        let number = try await send(stage)
        try await read(stage, number)
        try await poll(stage)
    }

    private func register(_ stage: any StoryStage) async throws {
        stage.say("A device registers: POST /ipns/appRegist")
        _ = try await stage.call(Self.call("getConfig", ["DEVICE_ID": "D1"])) { $0.json?["RT"] == "1400" }
        let answer = try await stage.json(
            Self.call(
                "appRegist",
                ["USER_CN": "E12345", "DEVICE_ID": "D1", "PUSH_TOKEN": .string(token), "PUSH_TYPE": "ios"]
            )
        )
        try stage.expect(answer["RT"] == "0000" && answer["PUSH_YN"] == "Y", "appRegist answers RT 0000, push is on")
        let config = try await stage.json(Self.call("getConfig", ["DEVICE_ID": "D1"]))
        try stage.expect(
            config["START_TIME"] == "0000" && config["END_TIME"] == "2359" && config["CP_USER_ID"] == "E12345",
            "getConfig returns the vendor's defaults"
        )
    }

    private func send(_ stage: any StoryStage) async throws -> String {
        stage.say("The back end sends to two users; one has no device")
        let extra: JSON = ["BADGE": 3, "MESSAGE": .string(Self.document)]
        let answer = try await stage.json(
            Self.call("send", Self.message(to: ["E12345", "E77777"], extra), key: stage.apiKey)
        )
        let number = try stage.text(answer, "MESSAGE_ID")
        try stage.expect(answer["ACCEPTED"]?.int == 1, "one user is accepted")
        try stage.expect(answer["NOT_FOUND"] == ["E77777"], "the other one is named")
        let message = try await stage.settled(number)
        try stage.expect(message["funnel"]?["sent"]?.int == 1, "one push was accepted")
        let payload = try await stage.payload(to: token)
        stage.show(payload)
        try stage.expect(payload["msg_id"]?.string == number, "the payload contains the message id")
        try stage.expect(payload[AppleKey.aps]?["badge"]?.int == 3, "the badge is the one that was sent")
        try stage.expect(
            payload["more"]?.string == "Y"
                && (payload["message"]?.string ?? "").utf8.count < Self.document.utf8.count,
            "its text is cut to the size of a push, and marked as cut"
        )
        return number
    }

    private func read(_ stage: any StoryStage, _ number: String) async throws {
        stage.say("The device reports that it received the message, and fetches the whole text")
        let received = try await stage.json(Self.call("recvReport", ["DEVICE_ID": "D1", "MSG_ID": .string(number)]))
        try stage.expect(received["RT"] == "0000", "recvReport answers RT 0000")
        let reported = try await stage.native("GET", "/v1/messages/\(number)")["funnel"]
        try stage.expect(
            reported?["received"]?.int == 1 && reported?["read"]?.int == 0,
            "the native funnel counts one receipt, and no reader"
        )
        let detail = try await stage.json(Self.call("getMsgDetail", ["DEVICE_ID": "D1", "REQ_ID": .string(number)]))[
            "ITEM"
        ]
        try stage.expect(detail?["MESSAGE"]?.string == Self.document, "getMsgDetail returns the whole text")
        try stage.expect(detail?["RECV_YN"] == "Y" && detail?["READ_YN"] == "N", "and does not mark it as read")

        stage.say("The device shows its history, and its user reads the message")
        let before = try await history(stage)
        try stage.expect(before.count == 1 && before[0]["READ_YN"] == "N", "getMsgs returns one unread message")
        let report = try await stage.json(
            Self.call(
                "readReport",
                ["DEVICE_ID": "D1", "USER_CN": "E12345", "REQ_ID": .string(number)]
            )
        )
        try stage.expect(report["RT"] == "0000", "readReport answers RT 0000")
        try stage.expect(try await history(stage).first?["READ_YN"] == "Y", "getMsgs shows it as read")
        let funnel = try await stage.native("GET", "/v1/messages/\(number)")["funnel"]
        try stage.expect(funnel?["read"]?.int == 1, "the native funnel counts one reader")
    }

    private func poll(_ stage: any StoryStage) async throws {
        stage.say("The user turns push off: the next message is not pushed, and is not lost")
        let config = try await stage.json(
            Self.call("updateConfig", ["DEVICE_ID": "D1", "PUSH_TOKEN": .string(token), "PUSH_YN": "N"])
        )
        try stage.expect(config["RT"] == "0000", "updateConfig answers RT 0000")
        let answer = try await stage.json(Self.call("send", Self.message(to: ["E12345"]), key: stage.apiKey))
        let number = try stage.text(answer, "MESSAGE_ID")
        let message = try await stage.settled(number)
        try stage.expect(message["funnel"]?["suppressed"]?.int == 1, "the delivery is suppressed")
        let polled = try await stage.json(Self.call("polling", ["DEVICE_ID": "D1"]))
        let ids = polled["LIST"]?.array?.compactMap { $0["REQ_ID"]?.string } ?? []
        try stage.expect(ids == [number] && polled["REMAIN"]?.int == 0, "polling returns it, and nothing remains")
    }

    // MARK: Helpers

    /// Larger than a push may be.
    private static let document = String(repeating: "A-77 needs your approval. ", count: 200)

    private static func message(to users: [String], _ more: JSON = [:]) -> JSON {
        var body = JSONObject([
            ("PUSH_ID_TYPE", "@01"), ("PUSH_ID", .array(users.map { .string($0) })), ("SEND_TYPE", "I"),
            ("TITLE", "Approval"), ("ALERT", "You have a new approval"),
        ])
        for (key, value) in more.object?.pairs ?? [] { body[key] = value }
        return .object(body)
    }

    private func history(_ stage: any StoryStage) async throws -> [JSON] {
        let answer = try await stage.json(
            Self.call("getMsgs", ["DEVICE_ID": "D1", "PUSH_ID_TYPE": "@01", "REQ_TYPE": "N"])
        )
        return answer["LIST"]?.array ?? []
    }

    private static func call(_ operation: String, _ fields: JSON, key: String? = nil) -> StoryCall {
        var body = fields.object ?? JSONObject()
        body["APP_ID"] = .string(app)
        let headers = key.map { ["Authorization": "Bearer \($0)"] } ?? [:]
        return StoryCall("POST", "/ipns/\(operation)", .json(.object(body)), headers: headers)
    }
}
