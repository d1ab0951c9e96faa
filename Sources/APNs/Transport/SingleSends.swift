internal import Model
internal import Synchronization

/// Pushes that were asked for one by one and leave together: the one-at-a-time door's hall.
///
/// Each waits until `APNsTransport.run` has its turn, which comes after every task that was ready before. A sender that is alone waits for one
/// change of tasks; of thousands each pays a batch's share of locks, wake-ups and allocations instead of its own. Any thread; it holds as many
/// as there are callers who wait.
final class SingleSends: Sendable {
    private struct State {
        var waiting: [SingleSend] = []
        var isClosed = false
    }

    private let state = Mutex(State())

    /// What became of one that came.
    enum Admission {
        /// Somebody has to fetch it; the others that come until then are fetched with it.
        case first
        case beside
        /// Nobody fetches any more.
        case closed
    }

    func add(_ send: SingleSend) -> Admission {
        state.withLock { state in
            guard !state.isClosed else { return .closed }
            state.waiting.append(send)
            return state.waiting.count == 1 ? .first : .beside
        }
    }

    /// All that wait, in order.
    func takeAll() -> [SingleSend] {
        state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
    }

    /// Takes nothing any more; gives what still waits.
    func close() -> [SingleSend] {
        state.withLock { state in
            state.isClosed = true
            defer { state.waiting = [] }
            return state.waiting
        }
    }
}

/// One push of the one-at-a-time door, its caller, and whether the caller has gone meanwhile.
final class SingleSend: Sendable {
    private enum Place {
        /// In the hall. Goes to: sent, canceled.
        case waiting
        /// In a batch, at this index.
        case sent(SendJob, Int)
        case canceled
    }

    let push: Push
    let credential: CredentialKey
    let deadline: Duration
    private let caller: CheckedContinuation<Outcome, Never>
    private let place = Mutex(Place.waiting)

    init(
        _ push: Push,
        through credential: CredentialKey,
        deadline: Duration,
        caller: CheckedContinuation<Outcome, Never>
    ) {
        self.push = push
        self.credential = credential
        self.deadline = deadline
        self.caller = caller
    }

    /// Answers the caller. Once.
    func end(_ outcome: Outcome) { caller.resume(returning: outcome) }

    /// It is in a batch now. True if its caller has gone before.
    func sent(_ job: SendJob, _ index: Int) -> Bool {
        place.withLock { place in
            if case .canceled = place { return true }
            place = .sent(job, index)
            return false
        }
    }

    /// The caller has gone. Where the push is, if it is in a batch.
    func canceled() -> (SendJob, Int)? {
        place.withLock { place in
            defer { place = .canceled }
            if case .sent(let job, let index) = place { return (job, index) }
            return nil
        }
    }
}

/// Brings a caller's cancellation to its push, whichever comes first.
final class SingleSendCancellation: Sendable {
    private enum State {
        case waiting
        case known(SingleSend)
        case canceled
    }

    private let state = Mutex(State.waiting)

    /// The push is on its way. True if its caller has gone before.
    func knows(_ send: SingleSend) -> Bool {
        state.withLock { state in
            if case .canceled = state { return true }
            state = .known(send)
            return false
        }
    }

    /// The caller has gone. Its push, if there is one already.
    func cancel() -> SingleSend? {
        state.withLock { state in
            defer { state = .canceled }
            if case .known(let send) = state { return send }
            return nil
        }
    }
}
