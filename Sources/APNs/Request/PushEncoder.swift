internal import ApplePayload
internal import Bytes
package import HTTP2
package import Model

/// Encodes pushes as requests, into a buffer that is reused.
///
/// Created by a pool, used by one thread at a time: the one that submits.
package struct PushEncoder: Sendable {
    private let blocks: HeaderBlocks
    /// The requests that were encoded and not submitted yet.
    package var batch = RequestBatch()
    /// The shared parts of the last push; consecutive pushes usually have the same.
    private var last: Known?

    private struct Known {
        let head: PushHead
        let block: HeaderBlock
        /// The type's default expiration, for pushes without one. Unit: seconds since 1970.
        let expiration: Int64?
    }

    /// The path before the device token.
    static let pathPrefix: StaticString = "/3/device/"

    /// Creates an encoder with the blocks of one pool.
    package init(blocks: HeaderBlocks) { self.blocks = blocks }

    /// Adds one push of a batch.
    ///
    /// - Parameters:
    ///   - pushes: the batch.
    ///   - index: the position of the push, which `PushGuard` has accepted. It is passed by position, because passing the push would copy it.
    ///   - slot: the request's id on its connection.
    ///   - deadline: when the request fails unless it was answered.
    /// - Throws: `invalidRequest` if the topic or type contains bytes that HTTP/2 forbids; then nothing was added.
    package mutating func append(
        _ pushes: Span<Push>,
        at index: Int,
        slot: UInt64,
        deadline: Moment
    ) throws(HTTP2Error) {
        // Look up the block only where it changes, so that an unchanged block is not even reference-counted.
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
            // Left out if it is not set: without it Apple applies its own storage policy, while zero would mean one attempt (docs/contracts/apns.md#14).
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
