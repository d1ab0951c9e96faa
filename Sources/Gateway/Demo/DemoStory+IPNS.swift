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
        let answer = try await ipns("send", Self.ipnsMessage(to: ["E12345", "E77777"]), bearer: stage.apiKey)
        let number = try text(answer, "MESSAGE_ID")
        try expect(answer["ACCEPTED"]?.int == 1, "one user is accepted")
        try expect(answer["NOT_FOUND"] == ["E77777"], "the other one is named")
        let message = try await settled(number)
        try expect(message["funnel"]?["sent"]?.int == 1, "one push was accepted")
        let seen = try await stage.control.call("GET", "/_simulator/requests?token=\(token)")
        let payload = seen.json?["requests"]?.array?.last?["payload"] ?? .null
        Console.print("    \(JSONWriter.text(payload))")
        try expect(payload["msg_id"]?.string == number, "the payload carries the message id")
        return number
    }

    private func readIPNS(_ number: String) async throws {
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

    private static func ipnsMessage(to users: [String]) -> JSON {
        [
            "PUSH_ID_TYPE": "@01", "PUSH_ID": .array(users.map { .string($0) }), "SEND_TYPE": "I", "TITLE": "Approval",
            "ALERT": "You have a new approval",
        ]
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
