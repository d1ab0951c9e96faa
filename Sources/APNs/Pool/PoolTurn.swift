internal import HTTP2
internal import Model

/// The actions of a pool after an event: decided inside its lock, performed outside it.
struct PoolTurn {
    /// An action other than submitting and completing pushes.
    enum Action: Sendable {
        /// Request a provider token, then report `tokenObtained` or `tokenFailed`.
        case obtainToken(replacing: ProviderToken?)
        /// Dial, with this token on every request; nil if a certificate authenticates the team. An extra connection may end when it is idle.
        case connect(ConnectionID, ProviderToken?, isExtra: Bool)
        /// Use another token for every further request of a connection.
        case setToken(ConnectionID, ProviderToken)
        /// Send a PING.
        case ping(ConnectionID)
        /// Close the connection in an orderly way.
        case close(ConnectionID)
        /// Close the connection at once.
        case abort(ConnectionID)
        /// Release a connection that has closed.
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

    /// Consecutive pushes of one batch, so that their shared batch is referenced once.
    struct TicketGroup {
        let job: SendJob
        var tickets: [Ticket]
    }

    /// Pushes for one connection.
    struct Submission {
        let connection: ConnectionID
        var groups: [TicketGroup] = []

        /// Announces that the next pushes are of this batch, and reserves room for `capacity` of them.
        mutating func turn(to job: SendJob, capacity: Int) {
            if let last = groups.last, last.job === job { return }
            var tickets: [Ticket] = []
            tickets.reserveCapacity(min(capacity, job.pushes.count))
            groups.append(TicketGroup(job: job, tickets: tickets))
        }

        mutating func append(_ ticket: Ticket) { groups[groups.count - 1].tickets.append(ticket) }
    }

    /// Completions of one batch.
    struct Finished {
        let job: SendJob
        var completions: [PushCompletion]
    }

    /// Actions in the order to perform them: a token before the connection that needs it.
    var actions: [Action] = []
    private(set) var submissions: [Submission] = []
    private(set) var finished: [Finished] = []
    /// The position of each batch's completions in `finished`; consecutive pushes usually belong to the same batch.
    private var places: [ObjectIdentifier: Int] = [:]

    mutating func submit(_ submission: Submission) {
        guard !submission.groups.isEmpty else { return }
        if let place = submissions.firstIndex(where: { $0.connection == submission.connection }) {
            submissions[place].groups += submission.groups
        } else {
            submissions.append(submission)
        }
    }

    mutating func complete(_ job: SendJob, _ index: Int, _ outcome: consuming Outcome) {
        complete(job, PushCompletion(slot: job.pushes[index].slot, outcome: outcome))
    }

    /// Completes an accepted push. The completion is created in place.
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

    /// Yields the completions. Call it outside of all locks, because a caller's continuation runs code of the caller.
    func deliver() {
        for batch in finished { batch.job.complete(batch.completions) }
    }
}
