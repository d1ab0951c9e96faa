import APNs
import ApplePayload
import FoundationEssentials
import Model

/// The notification to send: a short typed alert, padded to a given number of bytes.
struct BenchPush: Sendable {
    /// The bundle id of every push.
    static let topic = "com.example.shop"

    /// The content, as a value that is encoded and checked for each push.
    let payload: APNsPayload

    /// Creates a push whose payload has `bodyBytes` bytes.
    ///
    /// - Throws: `PushFault` if that is too many.
    init(bodyBytes: Int) throws(PushFault) {
        let shortest = try BenchPush(text: ".").encode().count
        self.init(text: String(repeating: "x", count: max(1, bodyBytes - shortest + 1)))
    }

    private init(text: String) {
        let content = AlertContent(title: "Order shipped", body: .literal(text))
        payload = APNsPayload(Aps(alert: .detailed(content), sound: .named("default")))
    }

    /// The payload's bytes, for the client that sends them unchanged.
    ///
    /// - Throws: `PushFault` if they are too many.
    func encode() throws(PushFault) -> [UInt8] {
        try payload.bytes(for: .alert)
    }

    /// The push to one device token, encoded and checked.
    ///
    /// - Throws: `PushFault`, which would be a mistake in this program.
    func push(slot: Int, to token: DeviceToken, id: PushID) throws(PushFault)
        -> Push
    {
        Push(
            slot: slot,
            token: token,
            environment: .production,
            topic: BenchPush.topic,
            id: id,
            payload: try payload.push(priority: 10),
            expiresAt: nil
        )
    }
}
