internal import ApplePayload
internal import Bytes
package import HTTP2
package import Model

/// Encodes pushes as requests, into a buffer that is used again and again.
///
/// Made by a pool, used by one thread at a time: whichever submits.
package struct PushEncoder: Sendable {
    private let blocks: HeaderBlocks
    /// What has been encoded and not yet submitted.
    package var batch = RequestBatch()
    /// What the last push shares with its neighbours, as mostly it is the same again.
    private var last: Known?

    private struct Known {
        let head: PushHead
        let block: HeaderBlock
        /// What the type's rule says where the push does not. Unit: seconds since 1970.
        let expiration: Int64?
    }

    /// What stands before the device token.
    static let pathPrefix: StaticString = "/3/device/"

    /// Encodes with the blocks of one pool.
    package init(blocks: HeaderBlocks) { self.blocks = blocks }

    /// Adds one push of a batch.
    ///
    /// - Parameters:
    ///   - pushes: the batch.
    ///   - index: which of it; `PushGuard` has let it through. By its place, because handed over it would be copied.
    ///   - slot: the request's id on its connection.
    ///   - deadline: when the request fails if there is no answer.
    /// - Throws: `invalidRequest` if the topic or type has bytes that HTTP/2 forbids; then nothing was added.
    package mutating func append(
        _ pushes: Span<Push>,
        at index: Int,
        slot: UInt64,
        deadline: Moment
    ) throws(HTTP2Error) {
        // Asked for only where it changes: a neighbour's block is not even counted.
        var isNew = batch.isEmpty
        if last?.head.isSame(pushes, index) != true {
            last = try look(up: PushHead(pushes[index]))
            isNew = true
        }
        let block = isNew ? last?.block : nil
        let expiration = pushes[index].expiresAt.map { max(0, $0.seconds) } ?? last?.expiration
        batch.append(slot: slot, head: block, deadline: deadline) { writer in
            writer.path(Self.pathPrefix, pushes[index].token.text)
            writer.field(APNsHeader.id, capacity: PushID.textCount) { pushes[index].id.spell(into: &$0) }
            // Left out when unset: absent means Apple's own storage policy, while zero would mean one try (docs/contracts/apns.md#14).
            if let expiration { DecimalDigits.spell(expiration) { writer.field(APNsHeader.expiration, $0) } }
            if let collapseID = pushes[index].payload.collapseID { writer.field(APNsHeader.collapseID, collapseID) }
            writer.body(pushes[index].payload.bytes)
        }
    }

    private func look(up head: PushHead) throws(HTTP2Error) -> Known {
        let block = try blocks.block(topic: head.topic, type: head.type, priority: head.priority)
        return Known(head: head, block: block, expiration: head.type.rule.expiry.standard)
    }
}
