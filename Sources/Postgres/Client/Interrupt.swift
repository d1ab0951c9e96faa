import CLinuxEvents
import Glibc
import NIOConcurrencyHelpers

/// Lets another thread cancel the work of a thread that waits on a socket: a descriptor to poll, and a record of the cancelled run.
///
/// One per session. Any thread may call `cancel` at any time. A ticket that is not running any longer is ignored.
final class CancellationSignal: Sendable {
    private struct State {
        var lastTicket: UInt64 = 0
        var cancelledTicket: UInt64 = 0
        var isStopped = false
    }

    private let state = NIOLockedValueBox(State())

    /// The descriptor becomes readable after `cancel` or `stop`.
    let descriptor: Int32

    /// - Throws: `other` when the process has no file descriptor left.
    init() throws(PostgresError) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard descriptor >= 0 else { throw PostgresError(.other, reason: "no descriptor") }
    }

    deinit { close(descriptor) }

    /// Returns the identifier of one run on the session. Runs follow each other, so the newest ticket belongs to the current run.
    func nextTicket() -> UInt64 {
        state.withLockedValue { state in
            state.lastTicket += 1
            return state.lastTicket
        }
    }

    /// Requests that the run with `ticket` ends.
    func cancel(_ ticket: UInt64) {
        state.withLockedValue { $0.cancelledTicket = max($0.cancelledTicket, ticket) }
        wake()
    }

    /// Requests that the current run and all later runs end.
    func stop() {
        state.withLockedValue { $0.isStopped = true }
        wake()
    }

    var isStopped: Bool { state.withLockedValue { $0.isStopped } }

    func isCancelled(_ ticket: UInt64) -> Bool {
        state.withLockedValue { $0.isStopped || $0.cancelledTicket == ticket }
    }

    /// Makes `descriptor` unreadable again.
    func clear() {
        var value: eventfd_t = 0
        _ = unsafe eventfd_read(descriptor, &value)
    }

    private func wake() { _ = eventfd_write(descriptor, 1) }
}

/// The time limit of one run, and the reason why the run was interrupted. Used only by the thread of the session.
final class Deadline {
    /// How long the server may take to confirm a cancellation before the session is given up.
    static let grace: Duration = .seconds(2)

    var instant: ContinuousClock.Instant
    let ticket: UInt64

    /// The reason for the cancellation: `cancelled` or `timeout`. Nil while the run is not interrupted.
    private(set) var interruption: PostgresError.Code?

    init(until instant: ContinuousClock.Instant, ticket: UInt64) {
        self.instant = instant
        self.ticket = ticket
    }

    /// The next action of a waiting run.
    enum Verdict {
        /// Poll for this number of milliseconds.
        case wait(Int32)
        /// The deadline has just passed, or the run was cancelled: send a cancel request to the server. Goes to: wait, with the grace period.
        case interrupt
        /// The grace period has passed too.
        case giveUp
    }

    func verdict(now: ContinuousClock.Instant, isCancelled: Bool) -> Verdict {
        if interruption == nil, isCancelled || now >= instant {
            interruption = isCancelled ? .cancelled : .timeout
            instant = now + Self.grace
            return .interrupt
        }
        let left = (instant - now).milliseconds
        if interruption != nil, left <= 0 { return .giveUp }
        // Rounded up, because a poll of 0 ms would loop until the deadline.
        return .wait(Int32(clamping: left + 1))
    }
}
