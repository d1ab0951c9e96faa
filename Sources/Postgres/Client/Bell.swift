import NIOConcurrencyHelpers

/// An alarm clock for one thread: rings at a set time, at the latest after a second, or when somebody rings it.
final class WakeupTimer: Sendable {
    private enum Signal: Equatable { case quiet, woken }

    private struct State {
        var next: ContinuousClock.Instant?
        var isStopped = false
    }

    /// Idle sessions are looked at this often.
    private static let longestWait: Duration = .seconds(1)

    private let signal = ConditionLock(value: Signal.quiet)
    private let state = NIOLockedValueBox(State())

    /// Blocks the calling thread. False once stopped.
    func wait() -> Bool {
        let (next, isStopped) = state.withLockedValue { ($0.next, $0.isStopped) }
        if isStopped { return false }
        let longest = ContinuousClock.now + Self.longestWait
        let pause = min(next ?? longest, longest) - .now
        // At least a millisecond: a deadline in the past must not spin.
        if signal.lock(whenValue: .woken, timeoutSeconds: max(Double(pause.milliseconds) / 1000, 0.001)) {
            signal.unlock(withValue: .quiet)
        }
        return state.withLockedValue { !$0.isStopped }
    }

    /// Sets the time of the next ring.
    func next(_ instant: ContinuousClock.Instant?) { state.withLockedValue { $0.next = instant } }

    /// Rings now.
    func wake() {
        signal.lock()
        signal.unlock(withValue: .woken)
    }

    /// Ends the thread that waits.
    func stop() {
        state.withLockedValue { $0.isStopped = true }
        wake()
    }
}
