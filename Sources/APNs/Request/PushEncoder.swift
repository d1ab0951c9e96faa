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
    private var last: Head?

    private struct Head {
        let topic: String
        let type: PushType
        let priority: Int
        let block: HeaderBlock
        /// What the type's rule says where the push does not. Unit: seconds since 1970.
        let expiration: Int64?
    }

    /// What stands before the device token.
    static let pathPrefix = "/3/device/"

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
        deadline: Moment
    ) throws(HTTP2Error) {
        let head = try head(topic: push.topic, type: push.payload.type, priority: push.payload.priority)
        let token = push.token.text
        let id = push.id
        let expiration = push.expiresAt.map { max(0, $0.seconds) } ?? head.expiration
        let payload = push.payload
        batch.append(slot: slot, head: head.block, deadline: deadline) { writer in
            writer.path(Self.pathPrefix)
            writer.path(token)
            writer.field(APNsHeader.id, capacity: PushID.textCount + 4) { id.spell(into: &$0) }
            // Left out when unset: absent means Apple's own storage policy, while zero would mean one try (apns.md §14).
            if let expiration { DecimalDigits.spell(expiration) { writer.field(APNsHeader.expiration, $0) } }
            if let collapseID = payload.collapseID { writer.field(APNsHeader.collapseID, collapseID) }
            writer.body(payload.bytes)
        }
    }

    private mutating func head(topic: String, type: PushType, priority: Int) throws(HTTP2Error) -> Head {
        if let last, last.priority == priority, last.type == type, last.topic == topic { return last }
        let block = try blocks.block(topic: topic, type: type, priority: priority)
        let head = Head(
            topic: topic,
            type: type,
            priority: priority,
            block: block,
            expiration: type.rule.expiry.standard
        )
        last = head
        return head
    }
}
