internal import HTTP2
internal import Model

/// Dialling, growing and leaving.
///
/// Connections are dialled one at a time, and only for a reason: none is there and something waits; all are full and have been for a while; or
/// fewer are open than are to be kept warm. Apple takes rapid dialling for an attack (docs/contracts/apns.md#11.3), so growth is paced, and a dial after
/// failures waits with jitter.
extension ConnectionPoolMachine {
    // MARK: A connection's events

    /// It is ready for requests.
    mutating func opened(_ id: ConnectionID) {
        guard let place = place(of: id), connections[place].state == .dialing, !isEnded else { return }
        connections[place].state = .open
        lastError = nil
    }

    /// How its TLS handshake went.
    mutating func shookHands(isResumed: Bool) {
        if isResumed { counters.resumedHandshakeCount += 1 } else { counters.fullHandshakeCount += 1 }
    }

    /// The peer allows so many streams on it.
    mutating func limited(_ id: ConnectionID, to count: Int) {
        if let place = place(of: id) { connections[place].streamLimit = max(0, count) }
    }

    /// It would take this many requests now.
    mutating func credited(
        _ id: ConnectionID,
        _ count: Int,
        isWindowLow: Bool = false,
        now: Instant,
        _ turn: inout PoolTurn
    ) {
        if let place = place(of: id) {
            connections[place].credits = max(0, count)
            connections[place].isWindowLow = isWindowLow
        }
        advance(now, &turn)
    }

    /// The peer sent a GOAWAY. A second one may follow, with a lower last stream.
    mutating func goneAway(_ id: ConnectionID, reason: APNsReason?, now: Instant, _ turn: inout PoolTurn) {
        counters.countGoAway(reason, limit: limits.maxCountedReasons)
        leaving(id, reason: reason, now: now, &turn)
    }

    /// No more requests go to it; what it has goes on.
    ///
    /// - Parameters:
    ///   - id: which.
    ///   - reason: what the peer gave, if it did. One that is about the credential refuses everything that waits: another connection would hear
    ///     the same.
    ///   - isPlanned: whether it ends by a rule of ours, which is no failure however little it has done.
    ///   - now: the time.
    ///   - turn: what is done about it.
    mutating func leaving(
        _ id: ConnectionID,
        reason: APNsReason? = nil,
        isPlanned: Bool = false,
        now: Instant,
        _ turn: inout PoolTurn
    ) {
        let refusal = reason.flatMap(Self.refusal)
        if let place = place(of: id), connections[place].state != .draining, !isEnded {
            connections[place].state = .draining
            // A peer that says goodbye before any answer must not be dialled in a loop.
            if !isPlanned, !connections[place].hasAnswered || refusal != nil { failureCount += 1 }
            if !isPlanned { backOff(now) }
        }
        if let refusal {
            for run in queue.removeAll() {
                for index in run.remaining {
                    finish(FairQueue.Item(job: run.job, index: index), .rejected(refusal), &turn)
                }
            }
            lastError = refusal.reason
        }
    }

    /// It is gone, and every request on it has completed.
    mutating func closed(_ id: ConnectionID, _ error: HTTP2Error?, now: Instant, _ turn: inout PoolTurn) {
        guard let place = place(of: id) else { return }
        let connection = connections.remove(at: place)
        turn.actions.append(.forget(id))
        switch connection.state {
        case .dialing:
            counters.connectFailureCount += 1
            let reason = error?.code.description ?? "closed"
            APNsMetrics.count(reason, in: &counters.connectFailureCounts, limit: limits.maxCountedReasons)
            fail(error, now)
        case .open:
            if connection.hasAnswered || error == nil { backOff(now) } else { fail(error, now) }
        case .draining:
            break
        }
        reportEnd(&turn)
    }

    // MARK: Dialling

    /// Dials if there is a reason to, and orders to be woken when there may be one.
    mutating func grow(_ now: Instant, _ turn: inout PoolTurn) {
        var liveCount = 0
        var isDialing = false
        var hasRoom = false
        for connection in connections where connection.state != .draining {
            liveCount += 1
            if connection.state == .dialing { isDialing = true }
            if connection.room > 0 { hasRoom = true }
        }
        let isFull = !queue.isEmpty && !hasRoom && slots.room > 0 && liveCount > 0
        if !isFull { fullSince = nil } else if fullSince == nil { fullSince = now }
        guard !isDialing else { return }
        let isExtra = liveCount >= max(1, warmCount)
        if liveCount == 0, !queue.isEmpty { return dial(isExtra: false, now, &turn) }
        // Paced from here on: one more is a wish, not a need.
        let pace = connections.last.map { $0.dialedAt + limits.dialSpacing } ?? now
        var due: Instant?
        if liveCount < warmCount { due = pace }
        if let fullSince, liveCount < limits.maxConnections {
            due = min(due ?? fullSince + limits.growAfter, max(pace, fullSince + limits.growAfter))
        }
        guard let due else { return }
        if due <= now { dial(isExtra: isExtra, now, &turn) } else { wake(at: due, &turn) }
    }

    private mutating func dial(isExtra: Bool, _ now: Instant, _ turn: inout PoolTurn) {
        if let backoffUntil {
            guard backoffUntil <= now else { return wake(at: backoffUntil, &turn) }
            self.backoffUntil = nil
        }
        if authentication == .token, !token.isUsable(at: now) { return askForToken(now, &turn) }
        lastDialed += 1
        connections.append(
            PoolConnection(id: lastDialed, dialedAt: now, isProven: authentication == .certificate)
        )
        counters.connectCount += 1
        if lastDialed > 1 { counters.reconnectCount += 1 }
        turn.actions.append(.connect(lastDialed, authentication == .token ? token.token : nil, isExtra: isExtra))
    }

    /// Asks for a provider token if that is due, else orders to be woken when it is.
    mutating func askForToken(_ now: Instant, _ turn: inout PoolTurn) {
        if token.isDue(at: now) {
            token.asked()
            turn.actions.append(.obtainToken(replacing: token.stale))
        } else if let nextTry = token.nextTry, !token.isObtaining, nextTry > now {
            wake(at: nextTry, &turn)
        }
    }

    // MARK: Leaving

    /// No new streams on a connection, which finishes what it has.
    ///
    /// The first replacement is dialled at once, further ones back off: an endpoint that refuses every new connection's token must not be
    /// dialled in a loop. Older connections that go for the same reason do not count.
    mutating func retire(_ id: ConnectionID, _ now: Instant, _ turn: inout PoolTurn) {
        guard let place = place(of: id), connections[place].state == .open else { return }
        connections[place].state = .draining
        turn.actions.append(.close(id))
        guard id == lastDialed else { return }
        backOff(now)
        failureCount += 1
    }

    /// Where a connection is in the list; the newest are asked for most.
    func place(of id: ConnectionID) -> Int? { connections.lastIndex { $0.id == id } }

    /// Whether a dial that was decided is still wanted.
    func isWanted(_ id: ConnectionID) -> Bool {
        !isEnded && connections.contains { $0.id == id && $0.state == .dialing }
    }

    private mutating func fail(_ error: HTTP2Error?, _ now: Instant) {
        failureCount += 1
        lastError = error?.code.description ?? "the connection was closed"
        backOff(now)
    }

    private mutating func backOff(_ now: Instant) {
        let delay = limits.backoff.delay(failureCount: failureCount, random: jitter())
        guard delay > .zero else { return }
        backoffUntil = max(backoffUntil ?? now, now + delay)
    }

    /// What a GOAWAY's reason says about the credential, if it does.
    private static func refusal(_ reason: APNsReason) -> Rejection? {
        // The status decides nothing for a known reason, and an unknown one is no refusal.
        if case .unknown = reason { return nil }
        guard case .rejected(var rejection) = APNsAnswer(reason: reason, status: 403).outcome,
            rejection.scope == .credential
        else { return nil }
        rejection.status = 0
        return rejection
    }
}
