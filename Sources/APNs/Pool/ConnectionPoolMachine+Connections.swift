internal import HTTP2
internal import Model

/// Dialling, growing and retiring connections.
///
/// Connections are dialled one at a time, and only if one of these holds: no connection exists and pushes wait; all have been full for a while; or fewer are
/// open than must be kept warm. Apple treats rapid dialling as an attack (docs/contracts/apns.md#11.3), so growth is paced, and a dial after failures waits
/// with jitter.
extension ConnectionPoolMachine {
    // MARK: Events of a connection

    /// The connection is ready for requests.
    mutating func opened(_ id: ConnectionID) {
        guard let place = place(of: id), connections[place].state == .dialing, !isEnded else { return }
        connections[place].state = .open
        lastError = nil
    }

    /// Counts a TLS handshake, by its kind.
    mutating func shookHands(isResumed: Bool) {
        if isResumed { counters.resumedHandshakeCount += 1 } else { counters.fullHandshakeCount += 1 }
    }

    /// The peer allows this number of streams on the connection.
    mutating func limited(_ id: ConnectionID, to count: Int) {
        if let place = place(of: id) { connections[place].streamLimit = max(0, count) }
    }

    /// The connection would accept this number of requests.
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

    /// Stops new requests on a connection; its open requests continue.
    ///
    /// - Parameters:
    ///   - id: the connection.
    ///   - reason: the peer's reason, if it gave one. A reason that concerns the credential refuses all waiting pushes: another connection would get the same
    ///     answer.
    ///   - isPlanned: whether the connection ends by our own rule. Then the end is not a failure, even if no request was answered.
    ///   - now: the time.
    ///   - turn: receives the actions.
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
            // A peer that sends GOAWAY before any answer must not be dialled in a loop.
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

    /// The connection is closed, and every request on it has completed.
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

    /// Dials if one of the conditions holds, and schedules a wake-up for the time when one may hold.
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
        // Paced from here on: an additional connection is useful but not necessary.
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

    /// Requests a provider token if that is due; otherwise schedules a wake-up for the time when it is.
    mutating func askForToken(_ now: Instant, _ turn: inout PoolTurn) {
        if token.isDue(at: now) {
            token.asked()
            turn.actions.append(.obtainToken(replacing: token.stale))
        } else if let nextTry = token.nextTry, !token.isObtaining, nextTry > now {
            wake(at: nextTry, &turn)
        }
    }

    // MARK: Retiring

    /// Stops new streams on a connection, which finishes its open ones.
    ///
    /// The first replacement is dialled at once, further ones back off: an endpoint that refuses the token on every new connection must not be dialled in a
    /// loop. Older connections that retire for the same reason do not count.
    mutating func retire(_ id: ConnectionID, _ now: Instant, _ turn: inout PoolTurn) {
        guard let place = place(of: id), connections[place].state == .open else { return }
        connections[place].state = .draining
        turn.actions.append(.close(id))
        guard id == lastDialed else { return }
        backOff(now)
        failureCount += 1
    }

    /// The position of a connection in the list; searched from the end, because the newest are looked up most.
    func place(of id: ConnectionID) -> Int? { connections.lastIndex { $0.id == id } }

    /// Whether a decided dial is still wanted.
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

    /// The rejection that a GOAWAY's reason implies for the credential, if there is one.
    private static func refusal(_ reason: APNsReason) -> Rejection? {
        // For a known reason the status is ignored, and an unknown one does not refuse anything.
        if case .unknown = reason { return nil }
        guard case .rejected(var rejection) = APNsAnswer(reason: reason, status: 403).outcome,
            rejection.scope == .credential
        else { return nil }
        rejection.status = 0
        return rejection
    }
}
