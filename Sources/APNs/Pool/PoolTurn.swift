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

    /// A push of a batch to encode and submit.
    struct Ticket {
        let slot: UInt64
        let index: Int
    }

    /// Pushes of one batch, one behind the other: what each shares is not counted for each.
    struct Sheaf {
        let job: SendJob
        var tickets: [Ticket]
    }

    /// Pushes for one connection.
    struct Submission {
        let connection: ConnectionID
        var sheaves: [Sheaf] = []

        /// The next pushes are of this batch; there is room for `capacity` of them.
        mutating func turn(to job: SendJob, capacity: Int) {
            if let last = sheaves.last, last.job === job { return }
            var tickets: [Ticket] = []
            tickets.reserveCapacity(min(capacity, job.pushes.count))
            sheaves.append(Sheaf(job: job, tickets: tickets))
        }

        mutating func append(_ ticket: Ticket) { sheaves[sheaves.count - 1].tickets.append(ticket) }
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

    mutating func submit(_ submission: Submission) {
        guard !submission.sheaves.isEmpty else { return }
        if let place = submissions.firstIndex(where: { $0.connection == submission.connection }) {
            submissions[place].sheaves += submission.sheaves
        } else {
            submissions.append(submission)
        }
    }

    mutating func complete(_ job: SendJob, _ index: Int, _ outcome: consuming Outcome) {
        complete(job, PushCompletion(slot: job.pushes[index].slot, outcome: outcome))
    }

    /// The same for a yes; made where it stays.
    mutating func accept(_ job: SendJob, _ index: Int, _ id: PushID) {
        let slot = job.pushes[index].slot
        if let last = finished.indices.last, finished[last].job === job {
            finished[last].completions.append(PushCompletion(slot: slot, outcome: .accepted(TransportMessageID(id))))
        } else {
            complete(job, PushCompletion(slot: slot, outcome: .accepted(TransportMessageID(id))))
        }
    }

    private mutating func complete(_ job: SendJob, _ completion: PushCompletion) {
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
