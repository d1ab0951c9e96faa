import NIOConcurrencyHelpers

/// Counts the concurrent calls.
final class CallSlots: Sendable {
    private let limit: Int
    private let used = NIOLockedValueBox(0)

    init(_ limit: Int) { self.limit = max(1, limit) }

    var free: Int { used.withLockedValue { max(0, limit - $0) } }

    func take(_ count: Int) { used.withLockedValue { $0 += count } }

    /// Takes up to `count` more slots for a subscription that makes several calls at once, but at most half of the free ones, so that another
    /// subscription finds a slot. Returns how many.
    func takeMore(_ count: Int) -> Int {
        used.withLockedValue { used in
            let more = max(0, min(count, (limit - used) / 2))
            used += more
            return more
        }
    }

    /// Frees slots. True if all slots were in use: a subscription may be waiting for one.
    func giveBack(_ count: Int) -> Bool {
        used.withLockedValue { used in
            defer { used -= count }
            return used >= limit
        }
    }
}
