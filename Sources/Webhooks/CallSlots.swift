import NIOConcurrencyHelpers

/// Counts the calls that run at once.
final class CallSlots: Sendable {
    private let limit: Int
    private let used = NIOLockedValueBox(0)

    init(_ limit: Int) { self.limit = max(1, limit) }

    var free: Int { used.withLockedValue { max(0, limit - $0) } }

    func take() { used.withLockedValue { $0 += 1 } }

    /// True when all were in use: somebody may be waiting for this one.
    func giveBack() -> Bool {
        used.withLockedValue { used in
            defer { used -= 1 }
            return used >= limit
        }
    }
}
