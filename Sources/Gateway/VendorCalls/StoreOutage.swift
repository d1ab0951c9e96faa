import Model
import NIOConcurrencyHelpers

/// Notes that the store does not answer. Meanwhile one call per second asks it, so that the calls that remembered rules proxy do not wait for it.
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

    /// Notes the error of a question. Others than these are answers: a caller could otherwise make the calls of all others wait by a call that the store refuses.
    func ended(with error: StoreError, at now: ContinuousClock.Instant) {
        switch error.code {
        case .unavailable, .timedOut: failed(at: now)
        case .conflict, .missing, .outdated, .taken, .exhausted, .failed: answered()
        }
    }

    func failed(at now: ContinuousClock.Instant) { next.withLockedValue { $0 = now + Self.pause } }

    func answered() { next.withLockedValue { $0 = nil } }
}
