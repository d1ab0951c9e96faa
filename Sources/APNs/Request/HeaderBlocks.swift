internal import ApplePayload
package import HTTP2
package import Model
internal import NIOConcurrencyHelpers

/// The shared parts of a pool's requests: one block per (topic, push type, priority), built at its first use.
///
/// Callers: any thread; the lock is held for a look-up or for building one block.
package final class HeaderBlocks: Sendable {
    private struct Key: Hashable {
        let topic: String
        let type: PushType
        let priority: Int
    }

    private let authority: String
    private let limit: Int
    private let blocks = NIOLockedValueBox<[Key: HeaderBlock]>([:])

    /// Creates a cache of blocks for requests to one authority; it keeps at most `limit`.
    package init(authority: String, limit: Int) {
        self.authority = authority
        self.limit = limit
    }

    /// The block of a push that `PushGuard` has accepted.
    ///
    /// - Throws: `invalidRequest` if the topic or type contains bytes that HTTP/2 forbids.
    package func block(topic: String, type: PushType, priority: Int) throws(HTTP2Error) -> HeaderBlock {
        let key = Key(topic: topic, type: type, priority: priority)
        if let known = blocks.withLockedValue({ $0[key] }) { return known }
        let fields = Self.fields(topic: topic, type: type, priority: priority)
        let block = try HeaderBlock(method: "POST", authority: authority, fields: fields)
        blocks.withLockedValue { blocks in
            // Emptying the cache is rare and cheap; tracking the oldest block at every use would be neither.
            if blocks.count >= limit { blocks.removeAll(keepingCapacity: true) }
            blocks[key] = block
        }
        return block
    }

    /// The fields that pushes of one (topic, push type, priority) share.
    static func fields(topic: String, type: PushType, priority: Int) -> [(FieldName, String)] {
        let rule = type.rule
        return [
            (APNsHeader.topic, topic + rule.topicSuffix),
            (APNsHeader.pushType, rule.name),
            (APNsHeader.priority, String(priority)),
        ]
    }
}
