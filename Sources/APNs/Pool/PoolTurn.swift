internal import HTTP2
internal import Model

/// What a pool does after an event: decided inside its lock, done outside it.
struct PoolTurn {
    /// Something to do besides submitting and completing.
    enum Action: Sendable {
        /// Ask for a provider token, then report `tokenObtained` or `tokenFailed`.
        case obtainToken(replacing: ProviderToken?)
        /// Dial, with this token on every request; nil where a certificate speaks for the team. One that is extra may end when it idles.
        case connect(ConnectionID, ProviderToken?, isExtra: Bool)
        /// Put another token on every request of a connection from now on.
        case setToken(ConnectionID, ProviderToken)
        /// Ask the peer for a sign of life.
        case ping(ConnectionID)
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

    /// Pushes for one connection.
    struct Submission {
        let connection: ConnectionID
        var tickets: [Ticket]
    }

    /// Completions of one batch.
    struct Finished {
        let job: SendJob
        var completions: [PushCompletion]
    }

    /// In this order: a token before the connection that needs it.
    var actions: [Action] = []
    private(set) var submissions: [Submission] = []
    private(set) var finished: [Finished] = []
    /// Where each batch's completions are in `finished`; neighbours mostly belong to the same batch.
    private var places: [ObjectIdentifier: Int] = [:]

    mutating func submit(_ tickets: [Ticket], on connection: ConnectionID) {
        guard !tickets.isEmpty else { return }
        if let place = submissions.firstIndex(where: { $0.connection == connection }) {
            submissions[place].tickets += tickets
        } else {
            submissions.append(Submission(connection: connection, tickets: tickets))
        }
    }

    mutating func complete(_ job: SendJob, _ index: Int, _ outcome: Outcome) {
        let completion = PushCompletion(slot: job.pushes[index].slot, outcome: outcome)
        if let last = finished.indices.last, finished[last].job === job {
            finished[last].completions.append(completion)
        } else if job.pushes.count == 1 {
            finished.append(Finished(job: job, completions: [completion]))
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
