internal import FoundationEssentials

/// What the peer calls the push it accepted: the `apns-id`, and in APNs' sandbox a key to its delivery log.
///
/// A UUID is kept as one, without a `String`: there is one of these per push.
package struct TransportMessageID: Sendable, Hashable {
    @usableFromInline
    enum Name: Sendable, Hashable {
        case id(PushID)
        case text(String)
    }

    @usableFromInline let name: Name
    /// `apns-unique-id`; only Apple's development environment gives one.
    package let logKey: String?

    @inlinable
    package init(_ id: PushID, logKey: String? = nil) {
        name = .id(id)
        self.logKey = logKey
    }

    /// An id that need not be a UUID; one that is, in whichever case, is the same as `init(_: PushID)` makes.
    package init(_ id: String, logKey: String? = nil) {
        name = UUID(uuidString: id).map { .id(PushID($0)) } ?? .text(id)
        self.logKey = logKey
    }

    /// As it is written: a UUID in lower case.
    package var id: String {
        switch name {
        case .id(let id): id.lowercased
        case .text(let text): text
        }
    }

    /// Whether the peer named none.
    package var isEmpty: Bool { name == .text("") }
}
