import NIOConcurrencyHelpers

/// Notes that the store does not answer. Meanwhile one call per second asks it, so that the calls whose rules are remembered do not wait for it.
final class StoreOutage: Sendable {
    /// 1 s: calls are served again at the latest this long after the store answers.
    static let pause = Duration.seconds(1)

    /// When the next call asks; nil: the store answers.
    private let next = NIOLockedValueBox<ContinuousClock.Instant?>(nil)

    /// Whether a call asks the store: every one while it answers.
    func asks(at now: ContinuousClock.Instant) -> Bool {
        next.withLockedValue { next in
            guard let due = next else { return true }
            guard now >= due else { return false }
            next = now + Self.pause
            return true
        }
    }

    func failed(at now: ContinuousClock.Instant) { next.withLockedValue { $0 = now + Self.pause } }

    func answered() { next.withLockedValue { $0 = nil } }
}
