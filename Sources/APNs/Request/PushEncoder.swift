internal import FoundationEssentials
package import HTTP2
package import Model

/// Encodes pushes as requests, into a buffer that is used again and again.
///
/// Made by a pool, used by one thread at a time: whichever submits.
package struct PushEncoder: Sendable {
    private let blocks: HeaderBlocks
    /// What has been encoded and not yet submitted.
    package var batch = RequestBatch()
    /// The block used last, because neighbours in a batch mostly share it.
    private var last: (topic: String, type: PushType, priority: Int, block: HeaderBlock)?

    /// Encodes with the blocks of one pool.
    package init(blocks: HeaderBlocks) { self.blocks = blocks }

    /// Adds one push.
    ///
    /// - Parameters:
    ///   - push: one that `PushGuard` has let through.
    ///   - slot: the request's id on its connection.
    ///   - deadline: when the request fails if there is no answer.
    /// - Throws: `invalidRequest` if the topic or type has bytes that HTTP/2 forbids; then nothing was added.
    package mutating func append(
        _ push: borrowing Push,
        slot: UInt64,
        deadline: ContinuousClock.Instant
    ) throws(HTTP2Error) {
        let head = try block(topic: push.topic, type: push.payload.type, priority: push.payload.priority)
        let token = push.token.text
        let id = push.id
        let expiration = push.expiresAt
        let payload = push.payload
        batch.append(slot: slot, head: head, deadline: deadline) { writer in
            writer.path("/3/device/")
            writer.path(token)
            var text = InlineArray<36, UInt8>(repeating: UInt8(ascii: "-"))
            Self.spell(id, into: &text)
            writer.field(APNsHeader.id, text.span)
            // Left out when unset: absent means Apple's own storage policy, while zero would mean one try (apns.md §14).
            if let expiration { writer.field(APNsHeader.expiration, String(max(0, expiration.seconds))) }
            if let collapseID = payload.collapseID { writer.field(APNsHeader.collapseID, collapseID) }
            writer.body(payload.bytes)
        }
    }

    private mutating func block(topic: String, type: PushType, priority: Int) throws(HTTP2Error) -> HeaderBlock {
        if let last, last.priority == priority, last.type == type, last.topic == topic { return last.block }
        let block = try blocks.block(topic: topic, type: type, priority: priority)
        last = (topic, type, priority, block)
        return block
    }

    /// The canonical lower-case text, without a `String`: this runs once per push.
    static func spell(_ id: UUID, into text: inout InlineArray<36, UInt8>) {
        let u = id.uuid
        let bytes: [16 of UInt8] = [
            u.0, u.1, u.2, u.3, u.4, u.5, u.6, u.7, u.8, u.9, u.10, u.11, u.12, u.13, u.14, u.15,
        ]
        var place = 0
        for index in bytes.indices {
            // The dashes are there already: after 4, 6, 8 and 10 bytes.
            if index == 4 || index == 6 || index == 8 || index == 10 { place += 1 }
            text[place] = HexCoding.digit(bytes[index] >> 4)
            text[place + 1] = HexCoding.digit(bytes[index])
            place += 2
        }
    }
}
