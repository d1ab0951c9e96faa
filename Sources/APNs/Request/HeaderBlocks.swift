internal import ApplePayload
package import HTTP2
package import Model
internal import NIOConcurrencyHelpers

/// The shared parts of a pool's requests: one prebuilt block per (topic, push type, priority), made at its first use.
///
/// Any thread; the lock is held for a look-up or for building one block.
package final class HeaderBlocks: Sendable {
    private struct Key: Hashable {
        let topic: String
        let type: PushType
        let priority: Int
    }

    private let authority: String
    private let limit: Int
    private let blocks = NIOLockedValueBox<[Key: HeaderBlock]>([:])

    /// Blocks for requests to one authority; at most `limit` are kept.
    package init(authority: String, limit: Int) {
        self.authority = authority
        self.limit = limit
    }

    /// The block of a push that `PushGuard` has let through.
    ///
    /// - Throws: `invalidRequest` if the topic or type has bytes that HTTP/2 forbids.
    package func block(topic: String, type: PushType, priority: Int) throws(HTTP2Error) -> HeaderBlock {
        let key = Key(topic: topic, type: type, priority: priority)
        if let known = blocks.withLockedValue({ $0[key] }) { return known }
        let fields = Self.fields(topic: topic, type: type, priority: priority)
        let block = try HeaderBlock(method: "POST", authority: authority, fields: fields)
        blocks.withLockedValue { blocks in
            // Starting anew is rare and cheap; finding the oldest on every use is neither.
            if blocks.count >= limit { blocks.removeAll(keepingCapacity: true) }
            blocks[key] = block
        }
        return block
    }

    /// What pushes of one (topic, push type, priority) share.
    static func fields(topic: String, type: PushType, priority: Int) -> [(FieldName, String)] {
        let rule = type.rule
        return [
            (APNsHeader.topic, topic + rule.topicSuffix),
            (APNsHeader.pushType, rule.name),
            (APNsHeader.priority, String(priority)),
        ]
    }

    /// How many are kept now.
    package var count: Int { blocks.withLockedValue(\.count) }
}
