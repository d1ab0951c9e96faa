import CLinuxEvents
import Glibc
import NIOConcurrencyHelpers

/// How another thread reaches a thread that waits on a socket: a descriptor to poll, and what is to be given up.
///
/// One per session. `cancel` may be called from anywhere at any time; a ticket that is no longer running is ignored.
final class CancellationSignal: Sendable {
    private struct State {
        var lastTicket: UInt64 = 0
        var cancelledTicket: UInt64 = 0
        var isStopped = false
    }

    private let state = NIOLockedValueBox(State())

    /// Readable after `cancel` or `stop`.
    let descriptor: Int32

    /// - Throws: `other` when the process has no descriptor left.
    init() throws(PostgresError) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard descriptor >= 0 else { throw PostgresError(.other, reason: "no descriptor") }
    }

    deinit { close(descriptor) }

    /// Names one run on the session. Runs follow each other, so the newest ticket is the one that runs.
    func nextTicket() -> UInt64 {
        state.withLockedValue { state in
            state.lastTicket += 1
            return state.lastTicket
        }
    }

    /// Asks the run with `ticket` to give up.
    func cancel(_ ticket: UInt64) {
        state.withLockedValue { $0.cancelledTicket = max($0.cancelledTicket, ticket) }
        wake()
    }

    /// Asks whatever runs, now or later, to give up.
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

/// How long one run waits, and what ended its deadline. Used by the session's thread only.
final class Deadline {
    /// How long the server may take to confirm a cancellation before the session is given up.
    static let grace: Duration = .seconds(2)

    var instant: ContinuousClock.Instant
    let ticket: UInt64

    /// Why a cancellation was asked for: `cancelled` or `timeout`; nil while all is well.
    private(set) var interruption: PostgresError.Code?

    init(until instant: ContinuousClock.Instant, ticket: UInt64) {
        self.instant = instant
        self.ticket = ticket
    }

    /// What waiting has come to.
    enum Verdict {
        /// Poll for so many milliseconds.
        case wait(Int32)
        /// Deadline has just ended: ask the server to cancel. Goes to: wait, with the grace period.
        case interrupt
        /// The grace period is over too.
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
        // Rounded up: a poll of 0 ms would spin until the deadline.
        return .wait(Int32(clamping: left + 1))
    }
}
