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
        /// In the hall. Goes to: sent, canceled, ended.
        case waiting
        /// In a batch, at this index. Goes to: ended.
        case sent(SendJob, Int)
        /// Its caller has gone before it was in one. Goes to: ended.
        case canceled
        /// Its caller was answered; the batch is let go, which holds this in turn.
        case ended
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

    /// Answers the caller; a second answer is dropped.
    func end(_ outcome: Outcome) {
        let isFirst = place.withLock { place in
            if case .ended = place { return false }
            place = .ended
            return true
        }
        if isFirst { caller.resume(returning: outcome) }
    }

    /// It is in a batch now. True if its caller has gone before.
    func sent(_ job: SendJob, _ index: Int) -> Bool {
        place.withLock { place in
            switch place {
            case .waiting:
                place = .sent(job, index)
                return false
            case .canceled:
                place = .sent(job, index)
                return true
            case .sent, .ended: return false
            }
        }
    }

    /// The caller has gone. Where the push is, if it is in a batch.
    func canceled() -> (SendJob, Int)? {
        place.withLock { place in
            switch place {
            case .sent(let job, let index): return (job, index)
            case .waiting:
                place = .canceled
                return nil
            case .canceled, .ended: return nil
            }
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
