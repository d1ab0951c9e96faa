internal import HTTP2
internal import Model

/// Decides which push is sent when, and on which connection.
extension ConnectionPoolMachine {
    /// Makes as much progress as possible: submits pushes that may be sent, and dials if that is not enough.
    mutating func advance(_ now: Instant, _ turn: inout PoolTurn) {
        guard !isEnded else { return }
        if !queue.isEmpty { dispatch(now, &turn) }
        if !queue.isEmpty || warmCount > 0 { grow(now, &turn) } else { fullSince = nil }
    }

    /// The connection accepted fewer requests than it had credits; the others wait again. The connection reports when it has credits again.
    mutating func refused(_ slotIDs: [UInt64], now: Instant, _ turn: inout PoolTurn) {
        for slot in slotIDs {
            guard let flight = slots.remove(slot) else { continue }
            if let place = place(of: flight.connection) {
                connections[place].credits = 0
                connections[place].inFlightCount -= 1
            }
            if isEnded {
                finish(flight.item, .unsent(TransportError(.goingAway)), &turn)
            } else {
                resend(flight.item, &turn)
            }
        }
        advance(now, &turn)
        reportEnd(&turn)
    }

    private mutating func dispatch(_ now: Instant, _ turn: inout PoolTurn) {
        guard connections.contains(where: { $0.room > 0 }), maySend(now, &turn) else { return }
        while !queue.isEmpty, slots.room > 0, let place = best() {
            let id = connections[place].id
            // A part at a time, so that several connections fill evenly.
            let room = min(connections[place].room, slots.room, limits.dispatchQuantum)
            var submission = PoolTurn.Submission(connection: id)
            var count = 0
            while count < room, let item = queue.next() {
                guard item.job.leaveBy > now else {
                    finish(item, .unsent(lateness), &turn)
                    continue
                }
                let index = item.index
                submission.turn(to: item.job, capacity: room - count)
                let slot = slots.insert(
                    SlotTable.Flight(item: item, connection: id, tokenGeneration: token.generation)
                )
                submission.append(PoolTurn.Ticket(slot: slot, index: index))
                count += 1
            }
            connections[place].credits -= count
            connections[place].inFlightCount += count
            turn.submit(submission)
        }
    }

    /// The connection with the most room; a doubtful one is the last choice.
    private func best() -> Int? {
        var best: Int?
        for place in connections.indices where connections[place].room > 0 {
            guard let known = best else {
                best = place
                continue
            }
            let (new, old) = (connections[place], connections[known])
            let isBetter = new.isDoubtful == old.isDoubtful ? new.room > old.room : !new.isDoubtful
            if isBetter { best = place }
        }
        return best
    }

    /// Whether pushes may be sent with the current token; requests the next token when that is due.
    private mutating func maySend(_ now: Instant, _ turn: inout PoolTurn) -> Bool {
        guard authentication == .token else { return true }
        let isUsable = token.isUsable(at: now)
        if !isUsable || token.isDue(at: now) { askForToken(now, &turn) }
        return isUsable
    }
}
