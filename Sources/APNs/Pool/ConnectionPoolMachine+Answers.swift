internal import HTTP2
internal import Model

/// How a push ends, and what its answer implies for the connection and the token.
extension ConnectionPoolMachine {
    /// A request has completed.
    mutating func completed(
        _ slot: UInt64,
        _ verdict: Verdict,
        now: Instant,
        _ turn: inout PoolTurn
    ) {
        guard let flight = slots.remove(slot) else { return }
        let place = place(of: flight.connection)
        if let place { connections[place].inFlightCount -= 1 }
        switch verdict {
        case .accepted(let id):
            if let place { noteAccepted(at: place) }
            counters.acceptedCount += 1
            turn.accept(flight.item.job, flight.item.index, id)
        case .answered(let answer): answered(flight, answer, place, now: now, &turn)
        case .failed(let error): failed(flight, error, place, &turn, now: now)
        }
        if isEnded { reportEnd(&turn) }
    }

    private mutating func answered(
        _ flight: SlotTable.Flight,
        _ answer: APNsAnswer,
        _ place: Int?,
        now: Instant,
        _ turn: inout PoolTurn
    ) {
        let id = flight.connection
        if let place { note(answer, at: place) }
        switch answer.remedy {
        case .none:
            break
        case .retire:
            retire(id, now, &turn)
        case .suspect:
            suspect(place, now, &turn)
        case .reconnectAndResend:
            retire(id, now, &turn)
            if remedied(flight.item, now: now, &turn) { return }
        case .renewTokenAndResend:
            token.refused(generation: flight.tokenGeneration, at: now)
            retire(id, now, &turn)
            if remedied(flight.item, now: now, &turn) { return }
        }
        let isHeldUp = answer.remedy == .renewTokenAndResend
        finish(flight.item, isHeldUp ? untilRenewal(answer.outcome, now: now) : answer.outcome, &turn)
    }

    /// Updates the connection's state from any answer on it.
    private mutating func note(_ answer: APNsAnswer, at place: Int) {
        if answer.showsAuthentication, answer.remedy == .none { return noteAccepted(at: place) }
        connections[place].hasAnswered = true
        guard case .none = answer.remedy else { return }
        noteGoodAnswer(at: place)
    }

    private mutating func noteAccepted(at place: Int) {
        connections[place].hasAnswered = true
        connections[place].isProven = true
        noteGoodAnswer(at: place)
    }

    private mutating func noteGoodAnswer(at place: Int) {
        connections[place].serverErrorCount = 0
        connections[place].hasRefused = false
        // A good answer on an older connection does not show that dialling works again.
        if connections[place].id == lastDialed { failureCount = 0 }
    }

    /// A 500 can leave a connection in a bad state (docs/contracts/apns.md#14): the pool sends a PING and uses the connection last; a second 500 in a row
    /// retires it.
    private mutating func suspect(_ place: Int?, _ now: Instant, _ turn: inout PoolTurn) {
        guard let place, connections[place].state == .open else { return }
        connections[place].serverErrorCount += 1
        if connections[place].serverErrorCount >= limits.maxServerErrorsInARow {
            retire(connections[place].id, now, &turn)
        } else {
            turn.actions.append(.ping(connections[place].id))
        }
    }

    /// A push whose provider token was refused twice waits until a new token may be signed.
    private func untilRenewal(_ outcome: Outcome, now: Instant) -> Outcome {
        guard case .deferred(let rejection, nil) = outcome else { return outcome }
        return .deferred(rejection, after: token.timeUntilRenewal(at: now))
    }

    private mutating func failed(
        _ flight: SlotTable.Flight,
        _ error: HTTP2Error,
        _ place: Int?,
        _ turn: inout PoolTurn,
        now: Instant
    ) {
        var item = flight.item
        if error.code == .refusedStream, let place { connections[place].hasRefused = true }
        let isHopeless = error.code == .deadlineExceeded || error.code == .canceled || !error.isRetriable
        if error.isUnsent, !isHopeless, !isEnded, item.resends < limits.maxResends, item.job.leaveBy > now {
            item.resends += 1
            counters.resentCount += 1
            resend(item, &turn)
        } else {
            finish(item, Outcome(error), &turn)
        }
    }

    /// Repeats a push once; returns false if it was already repeated.
    private mutating func remedied(_ item: FairQueue.Item, now: Instant, _ turn: inout PoolTurn) -> Bool {
        guard !item.isRemedied, !isEnded, item.job.leaveBy > now else { return false }
        var item = item
        item.isRemedied = true
        counters.resentCount += 1
        resend(item, &turn)
        return true
    }

    mutating func resend(_ item: FairQueue.Item, _ turn: inout PoolTurn) {
        queue.resend(item)
        wake(at: item.job.leaveBy, &turn)
    }

    mutating func finish(_ item: FairQueue.Item, _ outcome: Outcome, _ turn: inout PoolTurn) {
        counters.count(outcome, reasonLimit: limits.maxCountedReasons)
        // If the answer contains no id, the push was accepted under our id.
        if case .accepted(let accepted) = outcome, accepted.isEmpty {
            let id = item.job.pushes[item.index].id
            turn.complete(item.job, item.index, .accepted(TransportMessageID(id, logKey: accepted.logKey)))
        } else {
            turn.complete(item.job, item.index, outcome)
        }
    }
}

extension APNsAnswer {
    /// Whether the peer has accepted our authentication: it accepted the push, or refused it for a reason that it checks later.
    fileprivate var showsAuthentication: Bool {
        switch outcome {
        case .accepted: true
        // 403 concerns the authentication; a 5xx shows nothing about it.
        case .rejected(let rejection), .deferred(let rejection, _):
            (400..<500).contains(rejection.status) && rejection.status != 403 && rejection.status != 401
        case .unsent, .indeterminate: false
        }
    }
}
