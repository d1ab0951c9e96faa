import NIOConcurrencyHelpers

/// Counts the concurrent calls.
final class CallSlots: Sendable {
    private let limit: Int
    private let used = NIOLockedValueBox(0)

    init(_ limit: Int) { self.limit = max(1, limit) }

    var free: Int { used.withLockedValue { max(0, limit - $0) } }

    func take() { used.withLockedValue { $0 += 1 } }

    /// Frees a slot. True if all slots were in use: a subscription may be waiting for one.
    func giveBack() -> Bool {
        used.withLockedValue { used in
            defer { used -= 1 }
            return used >= limit
        }
    }
}
