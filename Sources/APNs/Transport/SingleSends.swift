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
        /// On its way to a batch. Goes to: sent, canceled, ended.
        case waiting
        /// In a batch, at this index. Goes to: ended.
        case sent(SendJob, Int)
        /// Its caller has gone before it was in one. Goes to: sent, ended.
        case canceled
        /// Its caller was answered; the batch is let go, which holds this in turn.
        case ended
    }

    private struct State {
        var place = Place.waiting
        /// Nil before it waits and after it was answered.
        var caller: CheckedContinuation<Outcome, Never>?
    }

    let push: Push
    let credential: CredentialKey
    let deadline: Duration
    private let state = Mutex(State())

    init(_ push: Push, through credential: CredentialKey, deadline: Duration) {
        self.push = push
        self.credential = credential
        self.deadline = deadline
    }

    /// Its caller waits from now on. False if it has gone before.
    func awaited(by caller: CheckedContinuation<Outcome, Never>) -> Bool {
        state.withLock { state in
            state.caller = caller
            if case .canceled = state.place { return false }
            return true
        }
    }

    /// Answers the caller; a second answer is dropped.
    func end(_ outcome: Outcome) {
        let caller = state.withLock { state in
            defer { state = State(place: .ended) }
            return state.caller
        }
        caller?.resume(returning: outcome)
    }

    /// It is in a batch now. True if its caller has gone before.
    func sent(_ job: SendJob, _ index: Int) -> Bool {
        state.withLock { state in
            switch state.place {
            case .waiting:
                state.place = .sent(job, index)
                return false
            case .canceled:
                state.place = .sent(job, index)
                return true
            case .sent, .ended: return false
            }
        }
    }

    /// The caller has gone. Where the push is, if it is in a batch.
    func canceled() -> (SendJob, Int)? {
        state.withLock { state in
            switch state.place {
            case .sent(let job, let index): return (job, index)
            case .waiting:
                state.place = .canceled
                return nil
            case .canceled, .ended: return nil
            }
        }
    }
}
