internal import NIOConcurrencyHelpers

/// Brings a job and the cancellation of its caller together, whichever comes first.
final class Cancellation: Sendable {
    private enum State {
        /// Goes to: sent, canceled.
        case waiting
        case sent(SendJob)
        case canceled
    }

    private let state = NIOLockedValueBox(State.waiting)

    /// The job is on its way. True if it has been cancelled already.
    func takes(_ job: SendJob) -> Bool {
        state.withLockedValue { state in
            if case .canceled = state { return true }
            state = .sent(job)
            return false
        }
    }

    /// The caller has gone. The job to cancel, if it is on its way.
    func cancel() -> SendJob? {
        state.withLockedValue { state in
            defer { state = .canceled }
            if case .sent(let job) = state { return job }
            return nil
        }
    }
}
