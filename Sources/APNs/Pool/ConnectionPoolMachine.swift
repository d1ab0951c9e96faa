internal import HTTP2
internal import Model

/// The connections and the queue of one (host, port, team, key) or (host, port, certificate), as a pure value: it turns events into a `PoolTurn`.
///
/// Time and randomness are arguments. A push is in exactly one of three places: in the queue, in flight in a slot, or done; every rule moves it between them,
/// which is why each push completes exactly once. The rules are in four files: events of callers and of the clock (here), `+Connections` (dialling, growing,
/// retiring), `+Dispatch` (which push is sent where) and `+Answers` (how a push ends).
struct ConnectionPoolMachine {
    typealias Instant = ContinuousClock.Instant

    /// How the team authenticates.
    enum Authentication: Sendable {
        /// By a provider token on every request; the peer allows one stream until it has seen a valid one.
        case token
        /// By the certificate in the handshake; the peer allows all its streams at once.
        case certificate
    }

    /// How a request ended.
    enum Verdict {
        /// Accepted, with only an id in the answer. Nearly all answers are of this kind; a copy is only two numbers.
        case accepted(PushID)
        indirect case answered(APNsAnswer)
        indirect case failed(HTTP2Error)
    }

    let limits: APNsLimits
    let authentication: Authentication
    let jitter: @Sendable () -> Double

    /// The pool is retired: it accepts nothing and finishes the requests in flight.
    var isEnded = false
    var queue: FairQueue
    var slots: SlotTable
    /// In the order in which they were dialled.
    var connections: [PoolConnection] = []
    var token = PoolToken()
    /// How many connections are kept open even if no push waits.
    var warmCount = 0

    /// The number of the last connection that was dialled.
    var lastDialed: ConnectionID = 0
    /// The earliest time of the next dial, because recent connections failed or were refused.
    var backoffUntil: Instant?
    /// Failures since the newest connection gave a good answer; it determines the back-off.
    var failureCount = 0
    /// Since when pushes have waited while every connection was full.
    var fullSince: Instant?
    /// Why the last dial failed; nil after a successful one.
    var lastError: String?

    /// The time of the wake-up that is already scheduled.
    var wakeAt: Instant?
    var hasReportedEnd = false
    var counters = APNsMetrics()

    /// Creates an idle pool. `jitter` returns a number in 0..<1.
    init(
        limits: APNsLimits,
        authentication: Authentication = .token,
        jitter: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        self.limits = limits
        self.authentication = authentication
        self.jitter = jitter
        queue = FairQueue(quantum: limits.fairQuantum, limit: limits.maxQueuedPushes)
        slots = SlotTable(limit: limits.maxPushesInFlight)
    }

    /// The counters and the current state of the pool.
    var metrics: APNsMetrics {
        var metrics = counters
        metrics.inFlightCount = slots.count
        metrics.queuedCount = queue.count
        for connection in connections {
            switch connection.state {
            case .dialing: metrics.dialingConnectionCount += 1
            case .open: metrics.openConnectionCount += 1
            case .draining: metrics.drainingConnectionCount += 1
            }
            metrics.allowedStreamCount += connection.allowedCount
        }
        return metrics
    }

    // MARK: Events of callers

    /// A batch arrived. Returns false if the pool is retired; then nothing was taken.
    mutating func enqueued(_ run: FairQueue.Run, now: Instant, _ turn: inout PoolTurn) -> Bool {
        guard !isEnded else { return false }
        let indices = run.remaining
        let room = queue.room(for: run.job.client)
        if indices.count <= room {
            queue.append(run)
        } else {
            queue.append(FairQueue.Run(run.job, Array(indices.prefix(room))))
            let overload = Outcome.unsent(TransportError(.overloaded, "the queue of this credential is full"))
            for index in indices.dropFirst(room) { finish(FairQueue.Item(job: run.job, index: index), overload, &turn) }
        }
        advance(now, &turn)
        if !queue.isEmpty { wake(at: run.job.leaveBy, &turn) }
        return true
    }

    /// The caller of a batch no longer waits. Waiting pushes are dropped; those in flight continue and are counted.
    ///
    /// - Returns: the indices of the dropped pushes, which the caller of this function must complete.
    mutating func canceled(_ job: SendJob) -> [Int] {
        let dropped = queue.remove(job).flatMap { $0.remaining }
        counters.unsentCount += dropped.count
        return dropped
    }

    /// Keeps this number of connections open from here on, even if no push waits.
    mutating func warmed(_ count: Int, now: Instant, _ turn: inout PoolTurn) {
        warmCount = max(0, min(count, limits.maxConnections))
        advance(now, &turn)
    }

    /// The credential was replaced, removed or shut down: connections finish their requests.
    ///
    /// - Returns: the pushes that were not sent, for the successor.
    mutating func retired(_ turn: inout PoolTurn) -> [FairQueue.Run] {
        isEnded = true
        for place in connections.indices {
            connections[place].state = .draining
            turn.actions.append(.close(connections[place].id))
        }
        reportEnd(&turn)
        return queue.removeAll()
    }

    /// The deadline of the shutdown has passed, or the key is compromised: connections end at once, and report the pushes in flight.
    mutating func aborted(_ turn: inout PoolTurn) {
        isEnded = true
        for place in connections.indices {
            connections[place].state = .draining
            turn.actions.append(.abort(connections[place].id))
        }
        reportEnd(&turn)
    }

    /// No connection will report again. Pushes in flight are given back as unknown, so that no caller waits forever.
    mutating func abandoned(_ turn: inout PoolTurn) {
        isEnded = true
        let unknown = Outcome.indeterminate(TransportError(.canceled, "shut down before the answer came"))
        for flight in slots.removeAll() { finish(flight.item, unknown, &turn) }
        for run in queue.removeAll() {
            for index in run.remaining {
                finish(FairQueue.Item(job: run.job, index: index), .unsent(TransportError(.goingAway)), &turn)
            }
        }
        connections.removeAll()
        reportEnd(&turn)
    }

    // MARK: Events of the clock

    /// The scheduled time has come.
    mutating func woke(now: Instant, _ turn: inout PoolTurn) {
        if let at = wakeAt, at <= now { wakeAt = nil }
        let late = Outcome.unsent(lateness)
        for run in queue.removeExpired(at: now) {
            for index in run.remaining { finish(FairQueue.Item(job: run.job, index: index), late, &turn) }
        }
        advance(now, &turn)
        if let time = queue.earliestLeaveBy { wake(at: time, &turn) }
    }

    // MARK: Events of the token

    /// A provider token arrived.
    mutating func tokenObtained(_ aged: AgedProviderToken, now: Instant, _ turn: inout PoolTurn) {
        let isNew = token.obtained(aged, at: now)
        if isNew { counters.tokenCount += 1 }
        // A token that is too old to be sent, from a store with a wrong clock, must not cause a loop of requests.
        guard token.isUsable(at: now) else { return tokenFailed(APNsError(.tokenUnavailable), now: now, &turn) }
        if isNew {
            for connection in connections where connection.state != .draining {
                turn.actions.append(.setToken(connection.id, aged.token))
            }
        }
        advance(now, &turn)
    }

    /// No provider token is available at this moment.
    mutating func tokenFailed(_ error: APNsError, now: Instant, _ turn: inout PoolTurn) {
        let isUsable = token.isUsable(at: now)
        let wait = limits.backoff.delay(failureCount: token.failureCount + 1, random: jitter())
        token.failed(error, at: now, retry: isUsable ? limits.tokenRetry : min(wait, limits.tokenRetry))
        if !token.isUsable(at: now) { lastError = "no provider token is available: \(error.code.name)" }
        advance(now, &turn)
    }

    // MARK: Time and the end of the pool

    /// Why a push that waited too long was not sent.
    var lateness: TransportError {
        if connections.contains(where: { $0.state == .open }) {
            return TransportError(.timedOut, "no stream was free in time")
        }
        return TransportError(.noConnection, lastError ?? "no connection in time")
    }

    mutating func wake(at time: Instant, _ turn: inout PoolTurn) {
        if let wakeAt, wakeAt <= time { return }
        wakeAt = time
        turn.actions.append(.wake(time))
    }

    mutating func reportEnd(_ turn: inout PoolTurn) {
        guard isEnded, !hasReportedEnd, connections.isEmpty, slots.count == 0 else { return }
        hasReportedEnd = true
        turn.actions.append(.ended)
    }
}
