import Foundation
import IPNS
import Model
import Testing

/// docs/contracts/ipns.md#2.6: at most 4,096 bytes; the client fetches a `message` that does not fit with
/// `getMsgDetail`.
struct PayloadTests {
    private func push(_ content: Content, numbers: [Vendor: String] = [.ipns: "202001150900001234"]) throws
        -> PushPayload
    {
        let message = MessageID(UUID())
        let notification = Notification(
            message: message,
            origin: .ipns,
            content: content,
            sentAt: Timestamp(seconds: 0),
            numbers: numbers
        )
        return try IPNSPayload(notification, appID: "hr.mobile").encoded()
    }

    @Test(arguments: [3000, 3600, 3700, 3800, 3900, 4000, 5000, 32 * 1024])
    func aLongMessageIsCutAtACharacterAndMarked(_ length: Int) throws {
        for unit in ["m", "가", "\"", "🙂"] {
            let text = String(repeating: unit, count: length / unit.utf8.count)
            let payload = try push(Content(body: "alert", data: JSONObject([("message", .string(text))])))
            let root = try JSONParser.parse(payload.bytes)
            let message = try #require(root["message"]?.string)
            #expect(payload.bytes.count <= 4096 && text.hasPrefix(message))
            #expect(
                (root["more"] == "Y") == (message != text) && payload.reduced == (message == text ? [] : ["message"])
            )
            if message != text { #expect(payload.bytes.count > 4096 - 8, "room was left: \(payload.bytes.count)") }
            #expect(root["aps"]?["alert"] == "alert")
        }
    }

    @Test func anAlertOfAnotherAPIIsCutOnlyIfNecessary() throws {
        let payload = try push(Content(body: String(repeating: "가", count: 2000)))
        let root = try JSONParser.parse(payload.bytes)
        #expect(payload.bytes.count <= 4096 && payload.reduced == ["alert"])
        #expect(root["aps"]?["alert"]?.string?.hasSuffix("가…") == true && root["message"] == "")
    }

    @Test func aMessageWithoutANumberIsNamedByItsID() throws {
        let root = try JSONParser.parse(try push(Content(body: "b"), numbers: [:]).bytes)
        #expect(root["msg_id"]?.string.flatMap { MessageID(text: $0) } != nil && root["msg_id"] == root["req_id"])
    }

    @Test func dataOfAnotherAPIIsTheMessage() throws {
        let root = try JSONParser.parse(
            try push(Content(body: "b", data: JSONObject([("docId", "A-77"), ("n", 1)]))).bytes
        )
        #expect(root["message"] == .string("{\"docId\":\"A-77\",\"n\":1}"))
    }

    @Test func aSilentMessageIsABackgroundPush() throws {
        let payload = try push(Content(data: JSONObject([("message", "m")]), isSilent: true))
        #expect(payload.type == .background && payload.priority == 5)
        #expect(try JSONParser.parse(payload.bytes)["aps"] == ["content-available": 1])
    }

    @Test func emptyContentIsRefused() {
        #expect(throws: AdapterError(.invalid, field: "body")) { try push(Content()) }
    }
}
