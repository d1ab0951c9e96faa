internal import FoundationEssentials

/// The peer's identifier of an accepted push: the `apns-id`, and in APNs' sandbox a key to its delivery log.
///
/// A UUID is stored as one, without a `String`, because every push has one of these.
package struct TransportMessageID: Sendable, Hashable {
    @usableFromInline
    enum Name: Sendable, Hashable {
        case id(PushID)
        case text(String)
    }

    @usableFromInline let name: Name
    /// The `apns-unique-id`, which only Apple's development environment returns.
    package let logKey: String?

    @inlinable
    package init(_ id: PushID, logKey: String? = nil) {
        name = .id(id)
        self.logKey = logKey
    }

    /// An id that need not be a UUID. A UUID in either case gives the same value as `init(_: PushID)`.
    package init(_ id: String, logKey: String? = nil) {
        name = UUID(uuidString: id).map { .id(PushID($0)) } ?? .text(id)
        self.logKey = logKey
    }

    /// Whether the peer returned no id.
    package var isEmpty: Bool { name == .text("") }
}
