import NIOConcurrencyHelpers

/// A timer for one thread: its wait ends at a set time, after one second at the latest, or when `wake` is called.
final class WakeupTimer: Sendable {
    private enum Signal: Equatable { case quiet, woken }

    private struct State {
        var next: ContinuousClock.Instant?
        var isStopped = false
    }

    /// The longest interval between two checks of the idle sessions.
    private static let longestWait: Duration = .seconds(1)

    private let signal = ConditionLock(value: Signal.quiet)
    private let state = NIOLockedValueBox(State())

    /// Blocks the calling thread. Returns false once the timer is stopped.
    func wait() -> Bool {
        let (next, isStopped) = state.withLockedValue { ($0.next, $0.isStopped) }
        if isStopped { return false }
        let longest = ContinuousClock.now + Self.longestWait
        let pause = min(next ?? longest, longest) - .now
        // At least one millisecond, because a deadline in the past must not cause a busy loop.
        if signal.lock(whenValue: .woken, timeoutSeconds: max(Double(pause.milliseconds) / 1000, 0.001)) {
            signal.unlock(withValue: .quiet)
        }
        return state.withLockedValue { !$0.isStopped }
    }

    /// Sets the time at which the next wait ends.
    func next(_ instant: ContinuousClock.Instant?) { state.withLockedValue { $0.next = instant } }

    /// Ends the current wait, or the next one.
    func wake() {
        signal.lock()
        signal.unlock(withValue: .woken)
    }

    /// Stops the timer, so that the waiting thread ends.
    func stop() {
        state.withLockedValue { $0.isStopped = true }
        wake()
    }
}
