import ApplePayload
import Foundation
import Model

/// The sequence of an iPNS app and its back end: register, send, read, history, polling, settings.
extension DemoStory {
    /// What the demo's app needs to be reached by this vendor's name: a line among its bindings.
    static let ipnsBinding = "          ipns: { appId: \(ipnsApp) }"
    private static let ipnsApp = "hr.mobile"

    /// - Throws: `DemoFailure` at the first step that does not hold.
    func playIPNS() async throws {
        Console.print("\nThe same gateway, another vendor: iPNS.\n")
        let token = SystemIdentifiers().randomHex(byteCount: 32)
        try await registerIPNS(token)
        let number = try await sendIPNS(token)
        try await readIPNS(number)
        try await pollIPNS()
    }

    private func registerIPNS(_ token: String) async throws {
        say("A device registers: POST /ipns/appRegist")
        // A running gateway follows what was applied within a second.
        for _ in 0..<100 where try await ipns("getConfig", ["DEVICE_ID": "D1"])["RT"] == "1400" {
            try await Task.sleep(for: .milliseconds(50))
        }
        let answer = try await ipns(
            "appRegist",
            ["USER_CN": "E12345", "DEVICE_ID": "D1", "PUSH_TOKEN": .string(token), "PUSH_TYPE": "ios"]
        )
        try expect(answer["RT"] == "0000" && answer["PUSH_YN"] == "Y", "appRegist answers RT 0000, push is on")
        let config = try await ipns("getConfig", ["DEVICE_ID": "D1"])
        try expect(
            config["START_TIME"] == "0000" && config["END_TIME"] == "2359" && config["CP_USER_ID"] == "E12345",
            "getConfig gives the vendor's defaults"
        )
    }

    private func sendIPNS(_ token: String) async throws -> String {
        say("The back end sends to two users; one has no device")
        let extra: JSON = ["BADGE": 3, "MESSAGE": .string(Self.ipnsDocument)]
        let answer = try await ipns("send", Self.ipnsMessage(to: ["E12345", "E77777"], extra), bearer: stage.apiKey)
        let number = try text(answer, "MESSAGE_ID")
        try expect(answer["ACCEPTED"]?.int == 1, "one user is accepted")
        try expect(answer["NOT_FOUND"] == ["E77777"], "the other one is named")
        let message = try await settled(number)
        try expect(message["funnel"]?["sent"]?.int == 1, "one push was accepted")
        let seen = try await stage.control.call("GET", "/_simulator/requests?token=\(token)")
        let payload = seen.json?["requests"]?.array?.last?["payload"] ?? .null
        Console.print("    \(JSONWriter.text(payload))")
        try expect(payload["msg_id"]?.string == number, "the payload carries the message id")
        try expect(payload[AppleKey.aps]?["badge"]?.int == 3, "the badge is the one that was sent")
        try expect(
            payload["more"]?.string == "Y"
                && (payload["message"]?.string ?? "").utf8.count < Self.ipnsDocument.utf8.count,
            "its text is cut to what a push holds, and says so"
        )
        return number
    }

    private func readIPNS(_ number: String) async throws {
        say("The device reports that it got the message, and fetches what the push had no room for")
        let received = try await ipns("recvReport", ["DEVICE_ID": "D1", "MSG_ID": .string(number)])
        try expect(received["RT"] == "0000", "recvReport answers RT 0000")
        let reported = try await native("GET", "/v1/messages/\(number)")["funnel"]
        try expect(
            reported?["received"]?.int == 1 && reported?["read"]?.int == 0,
            "the native funnel counts one receipt, and no reader"
        )
        let detail = try await ipns("getMsgDetail", ["DEVICE_ID": "D1", "REQ_ID": .string(number)])["ITEM"]
        try expect(detail?["MESSAGE"]?.string == Self.ipnsDocument, "getMsgDetail gives the whole text")
        try expect(detail?["RECV_YN"] == "Y" && detail?["READ_YN"] == "N", "and reads nothing by it")

        say("The device shows its history, and its user reads the message")
        let before = try await historyIPNS()
        try expect(before.count == 1 && before[0]["READ_YN"] == "N", "getMsgs gives one message, unread")
        let report = try await ipns(
            "readReport",
            ["DEVICE_ID": "D1", "USER_CN": "E12345", "REQ_ID": .string(number)]
        )
        try expect(report["RT"] == "0000", "readReport answers RT 0000")
        try expect(try await historyIPNS().first?["READ_YN"] == "Y", "getMsgs shows it read")
        let funnel = try await native("GET", "/v1/messages/\(number)")["funnel"]
        try expect(funnel?["read"]?.int == 1, "the native funnel counts one reader")
    }

    private func pollIPNS() async throws {
        say("The user turns push off: the next message is not pushed, and is not lost")
        let config = try await ipns("updateConfig", ["DEVICE_ID": "D1", "PUSH_YN": "N"])
        try expect(config["RT"] == "0000", "updateConfig answers RT 0000")
        let answer = try await ipns("send", Self.ipnsMessage(to: ["E12345"]), bearer: stage.apiKey)
        let number = try text(answer, "MESSAGE_ID")
        let message = try await settled(number)
        try expect(message["funnel"]?["suppressed"]?.int == 1, "the delivery is suppressed")
        let polled = try await ipns("polling", ["DEVICE_ID": "D1"])
        let ids = polled["LIST"]?.array?.compactMap { $0["REQ_ID"]?.string } ?? []
        try expect(ids == [number] && polled["REMAIN"]?.int == 0, "polling gives it, and nothing remains")
    }

    // MARK: Helpers

    /// More than a push may hold.
    private static let ipnsDocument = String(repeating: "A-77 needs your approval. ", count: 200)

    private static func ipnsMessage(to users: [String], _ more: JSON = [:]) -> JSON {
        var body = JSONObject([
            ("PUSH_ID_TYPE", "@01"), ("PUSH_ID", .array(users.map { .string($0) })), ("SEND_TYPE", "I"),
            ("TITLE", "Approval"), ("ALERT", "You have a new approval"),
        ])
        for (key, value) in more.object?.pairs ?? [] { body[key] = value }
        return .object(body)
    }

    private func historyIPNS() async throws -> [JSON] {
        let answer = try await ipns("getMsgs", ["DEVICE_ID": "D1", "PUSH_ID_TYPE": "@01", "REQ_TYPE": "N"])
        return answer["LIST"]?.array ?? []
    }

    private func ipns(_ operation: String, _ fields: JSON, bearer: String? = nil) async throws -> JSON {
        var body = fields.object ?? JSONObject()
        body["APP_ID"] = .string(Self.ipnsApp)
        return try await vendor(stage.gateway, "/ipns/\(operation)", .object(body), bearer: bearer)
    }
}
