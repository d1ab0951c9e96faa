import APNs
import ApplePayload
import FoundationEssentials
import HTTP2
import Model

/// From typed values to a request in a batch.
struct PushPieces {
    private static let token = String(repeating: "0f1e2d3c4b5a6978", count: 4)
    private static let topic = "com.example.shop"

    private var payload: APNsPayload {
        let body = "Parcel 4711 is on its way and will be with you between ten and twelve o'clock tomorrow."
        let content = AlertContent(title: "Order shipped", body: .literal(body))
        return APNsPayload(Aps(alert: .detailed(content), badge: 3, sound: .named("default"), threadID: "orders"))
    }

    func encodePayloads(_ count: Int) throws {
        var encoder = PayloadEncoder()
        for _ in 0..<count { try encoder.encode(payload, for: .alert) }
        guard count == 0 || encoder.bytes.count > 100 else { throw PieceFailure(sentence: "empty payload") }
    }

    func makePushes(_ count: Int) throws {
        for slot in 0..<count { _ = try push(slot) }
    }

    func encodeRequests(_ count: Int) throws {
        let batch = [try push(0)]
        var encoder = PushEncoder(blocks: HeaderBlocks(authority: "api.push.apple.com", limit: 8))
        let deadline = Moment(.now + .seconds(30))
        for slot in 0..<count {
            try encoder.append(batch.span, at: 0, slot: UInt64(slot), deadline: deadline)
            if encoder.batch.count == 256 { encoder.batch.removeAll() }
        }
    }

    private func push(_ slot: Int) throws -> Push {
        Push(
            slot: slot,
            token: DeviceToken(stored: PushPieces.token),
            environment: .production,
            topic: PushPieces.topic,
            id: PushID(high: 0x0102_0304_0506_4008, low: 0x800A_0B0C_0D0E_0F00 | UInt64(slot & 0xFF)),
            payload: try payload.push(),
            expiresAt: nil
        )
    }
}
