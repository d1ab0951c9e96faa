internal import HTTP2
internal import Model

/// What a pool does after an event: decided inside its lock, done outside it.
struct PoolTurn {
    /// Something to do besides submitting and completing.
    enum Action: Sendable {
        /// Ask for a provider token, then report `tokenObtained` or `tokenFailed`.
        case obtainToken(replacing: ProviderToken?)
        /// Dial, with this token on every request.
        case connect(ConnectionID, ProviderToken)
        /// Put another token on every request of a connection from now on.
        case setToken(ConnectionID, ProviderToken)
        /// End in good order.
        case close(ConnectionID)
        /// End at once.
        case abort(ConnectionID)
        /// Let go of a connection that has ended.
        case forget(ConnectionID)
        /// Report `woke` at this time.
        case wake(ContinuousClock.Instant)
        /// The pool was retired and has nothing left.
        case ended
    }

    /// A push to encode and submit.
    struct Ticket {
        let slot: UInt64
        let job: SendJob
        let index: Int
    }

    /// Completions of one batch.
    struct Finished {
        let job: SendJob
        var completions: [PushCompletion]
    }

    /// In this order: a token before the connection that needs it.
    var actions: [Action] = []
    /// Where the tickets go.
    var connection: ConnectionID?
    var tickets: [Ticket] = []
    private(set) var finished: [Finished] = []
    /// Where each batch's completions are in `finished`; neighbours mostly belong to the same batch.
    private var places: [ObjectIdentifier: Int] = [:]

    mutating func complete(_ job: SendJob, _ index: Int, _ outcome: Outcome) {
        let completion = PushCompletion(slot: job.pushes[index].slot, outcome: outcome)
        if let last = finished.indices.last, finished[last].job === job {
            finished[last].completions.append(completion)
        } else if let place = places[ObjectIdentifier(job)] {
            finished[place].completions.append(completion)
        } else {
            places[ObjectIdentifier(job)] = finished.count
            finished.append(Finished(job: job, completions: [completion]))
        }
    }

    /// Yields the completions. Outside of every lock: a caller's continuation runs code of its own.
    func deliver() {
        for batch in finished { batch.job.complete(batch.completions) }
    }
}
