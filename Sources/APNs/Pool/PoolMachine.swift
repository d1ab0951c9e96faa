internal import HTTP2
internal import Model

/// The connections and the queue of one (host, team, key), as a pure value: what happened goes in, a `PoolTurn` comes out.
///
/// Time and randomness come in as arguments. One piece, because every rule here moves a push between the same three places: the queue, a
/// slot in flight, and done. A push is in exactly one of them, which is why each completes exactly once.
///
/// One connection takes pushes at a time; those before it finish what they have. Several at once are a matter of `dispatch` alone.
struct PoolMachine {
    typealias Instant = ContinuousClock.Instant

    /// Where the connection that takes pushes is.
    enum Phase: Equatable {
        /// There is none, and nothing waits for one. Goes to: obtainingToken, connecting, ended.
        case idle
        /// Waits for a provider token before dialling. Goes to: connecting, waiting, ended.
        case obtainingToken
        /// Dials; nobody else does, however many pushes come. Goes to: open, waiting, idle, ended.
        case connecting(ConnectionID)
        /// Takes pushes. Goes to: idle, waiting, ended.
        case open(ConnectionID)
        /// Waits after a failure. Goes to: idle, ended.
        case waiting(until: Instant)
        /// Retired: takes nothing, finishes what is in flight.
        case ended
    }

    /// How a request ended.
    enum Verdict {
        case answered(APNsAnswer)
        case failed(HTTP2Error)
    }

    private struct Token {
        let token: ProviderToken
        let ageWhenObtained: Duration
        let obtainedAt: Instant

        func age(at now: Instant) -> Duration { ageWhenObtained + max(.zero, obtainedAt.duration(to: now)) }
    }

    private struct Record {
        /// Whether a request on it was answered: then its end is no failure to connect.
        var hasAnswered = false
        var serverErrorsInARow = 0
    }

    private let limits: APNsLimits
    private let jitter: @Sendable () -> Double

    private(set) var phase = Phase.idle
    private var queue: FairQueue
    private var slots: SlotTable
    private var connections: [ConnectionID: Record] = [:]
    private var nextConnection: ConnectionID = 0
    /// How many requests the open connection would take, by its last report and what was given to it since.
    private var credits = 0

    private var token: Token?
    private var isObtainingToken = false
    /// No look-up before this: the last one failed.
    private var nextTokenTry: Instant?
    /// The token that APNs has called expired and that is old enough to be replaced.
    private var stale: ProviderToken?

    /// Failures since the last good answer; decides the back-off.
    private var failureCount = 0
    private(set) var lastError: String?
    /// The wake-up that is already ordered.
    private var wakeAt: Instant?
    private var hasReportedEnd = false
    private var counters = APNsMetrics()

    /// An idle pool. `jitter` gives a number in 0..<1.
    init(limits: APNsLimits, jitter: @escaping @Sendable () -> Double = { .random(in: 0..<1) }) {
        self.limits = limits
        self.jitter = jitter
        queue = FairQueue(quantum: limits.fairQuantum)
        slots = SlotTable(limit: limits.maxPushesInFlight)
    }

    /// What it has done and holds.
    var metrics: APNsMetrics {
        var metrics = counters
        metrics.inFlightCount = slots.count
        metrics.queuedCount = queue.count
        if case .open = phase { metrics.openConnectionCount = 1 }
        let current = if case .connecting = phase { 1 } else { metrics.openConnectionCount }
        metrics.drainingConnectionCount = connections.count - current
        return metrics
    }

    // MARK: The caller's events

    /// A batch came. False if the pool is retired: then nothing was taken.
    mutating func enqueued(_ run: FairQueue.Run, now: Instant, _ turn: inout PoolTurn) -> Bool {
        guard phase != .ended else { return false }
        let room = max(0, limits.maxQueuedPushes - queue.count)
        let indices = run.remaining
        if indices.count <= room {
            queue.append(run)
        } else {
            queue.append(FairQueue.Run(run.job, Array(indices.prefix(room))))
            let overload = Outcome.unsent(TransportError(.overloaded, "the queue of this credential is full"))
            for index in indices.dropFirst(room) { finish(FairQueue.Item(job: run.job, index: index), overload, &turn) }
        }
        advance(now, &turn)
        if !queue.isEmpty { wake(at: run.job.deadline, &turn) }
        return true
    }

    /// The caller of a batch has gone: what waits is dropped, what is in flight goes on and is counted.
    mutating func canceled(_ job: SendJob) { _ = queue.remove(job) }

    /// The credential was replaced, removed or shut down: connections finish what they have.
    ///
    /// - Returns: what had not been sent, for whoever takes it over.
    mutating func retired(_ turn: inout PoolTurn) -> [FairQueue.Run] {
        phase = .ended
        for id in connections.keys.sorted() { turn.actions.append(.close(id)) }
        reportEnd(&turn)
        return queue.removeAll()
    }

    /// There is no more time: connections end at once, and report what was in flight.
    mutating func aborted(_ turn: inout PoolTurn) {
        phase = .ended
        for id in connections.keys.sorted() { turn.actions.append(.abort(id)) }
    }

    /// Nobody reports any more. What is still in flight is given back as unknown, so that no caller waits for ever.
    mutating func abandoned(_ turn: inout PoolTurn) {
        phase = .ended
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

    // MARK: The clock's event

    /// The ordered time has come.
    mutating func woke(now: Instant, _ turn: inout PoolTurn) {
        if let at = wakeAt, at <= now { wakeAt = nil }
        let late = Outcome.unsent(lateness)
        for run in queue.removeExpired(at: now) {
            for index in run.remaining { finish(FairQueue.Item(job: run.job, index: index), late, &turn) }
        }
        advance(now, &turn)
        if let deadline = queue.earliestDeadline { wake(at: deadline, &turn) }
    }

    // MARK: The token's events

    /// A provider token came.
    mutating func tokenObtained(_ aged: AgedProviderToken, now: Instant, _ turn: inout PoolTurn) {
        isObtainingToken = false
        stale = nil
        nextTokenTry = nil
        let isNew = token?.token != aged.token
        token = Token(token: aged.token, ageWhenObtained: aged.age, obtainedAt: now)
        if isNew { counters.tokenCount += 1 }
        // One that is too old to be sent, from a store with a broken clock, must not lead to dialling in a loop.
        guard isTokenUsable(at: now) else { return tokenFailed(APNsError(.tokenUnavailable), now: now, &turn) }
        switch phase {
        case .obtainingToken: connect(aged.token, &turn)
        case .connecting(let id), .open(let id): if isNew { turn.actions.append(.setToken(id, aged.token)) }
        case .idle, .waiting, .ended: break
        }
        advance(now, &turn)
    }

    /// No provider token can be had now.
    mutating func tokenFailed(_ error: APNsError, now: Instant, _ turn: inout PoolTurn) {
        isObtainingToken = false
        nextTokenTry = now + max(limits.tokenRetry, error.retryAfter ?? .zero)
        // Too young to be replaced: go on with it, on a new connection. What it is refused for then is deferred.
        if error.code == .tokenTooYoung { stale = nil }
        if case .obtainingToken = phase {
            if let token, token.token != stale, isTokenUsable(at: now) {
                connect(token.token, &turn)
            } else {
                lastError = "no provider token: \(error.code.name)"
                failureCount += 1
                back(off: now, &turn)
            }
        }
        if let nextTokenTry, !isTokenUsable(at: now), !queue.isEmpty { wake(at: nextTokenTry, &turn) }
    }

    // MARK: A connection's events

    /// It is ready for requests.
    mutating func opened(_ id: ConnectionID) {
        guard phase == .connecting(id) else { return }
        phase = .open(id)
        lastError = nil
    }

    /// It would take this many requests now.
    mutating func credited(_ id: ConnectionID, _ count: Int, now: Instant, _ turn: inout PoolTurn) {
        if phase == .open(id) { credits = count }
        advance(now, &turn)
    }

    /// The peer takes no more requests on it; what it has goes on.
    mutating func leaving(_ id: ConnectionID, now: Instant, _ turn: inout PoolTurn) {
        guard phase == .open(id) || phase == .connecting(id) else { return }
        if connections[id]?.hasAnswered != true { failureCount += 1 }
        back(off: now, &turn)
    }

    /// It is gone, and every request on it has completed.
    mutating func closed(_ id: ConnectionID, _ error: HTTP2Error?, now: Instant, _ turn: inout PoolTurn) {
        guard let record = connections.removeValue(forKey: id) else { return }
        turn.actions.append(.forget(id))
        if phase == .connecting(id) {
            counters.connectFailureCount += 1
            fail(error, now: now, &turn)
        } else if phase == .open(id) {
            if record.hasAnswered { back(off: now, &turn) } else { fail(error, now: now, &turn) }
        }
        reportEnd(&turn)
    }

    /// A request ended.
    mutating func completed(
        _ slot: UInt64,
        _ verdict: Verdict,
        now: Instant,
        _ turn: inout PoolTurn
    ) {
        guard let flight = slots.remove(slot) else { return }
        switch verdict {
        case .answered(let answer): answered(flight, answer, now: now, &turn)
        case .failed(let error): failed(flight, error, now: now, &turn)
        }
        if phase == .ended { reportEnd(&turn) }
    }

    /// The connection took fewer requests than its credits promised: these wait again. It reports when it has credits.
    mutating func refused(_ slotIDs: [UInt64], now: Instant, _ turn: inout PoolTurn) {
        for slot in slotIDs {
            guard let flight = slots.remove(slot) else { continue }
            if phase == .open(flight.connection) { credits = 0 }
            if phase == .ended {
                finish(flight.item, .unsent(TransportError(.goingAway)), &turn)
            } else {
                resend(flight.item, &turn)
            }
        }
        advance(now, &turn)
        reportEnd(&turn)
    }

    // MARK: Answers

    private mutating func answered(
        _ flight: SlotTable.Flight,
        _ answer: APNsAnswer,
        now: Instant,
        _ turn: inout PoolTurn
    ) {
        let id = flight.connection
        connections[id]?.hasAnswered = true
        switch answer.remedy {
        case .none:
            failureCount = 0
            connections[id]?.serverErrorsInARow = 0
        case .retire:
            retire(id, now: now, &turn)
        case .suspect:
            connections[id]?.serverErrorsInARow += 1
            if (connections[id]?.serverErrorsInARow ?? 0) >= limits.maxServerErrorsInARow {
                retire(id, now: now, &turn)
            }
        case .reconnectAndResend:
            retire(id, now: now, &turn)
            if remedied(flight.item, now: now, &turn) { return }
        case .renewTokenAndResend:
            // Only the current connection's refusal is about the current token.
            if phase == .open(id), let token, token.age(at: now) >= ProviderTokenAge.minimum { stale = token.token }
            retire(id, now: now, &turn)
            if remedied(flight.item, now: now, &turn) { return }
        }
        finish(flight.item, untilRenewal(answer, now: now), &turn)
    }

    /// A push whose provider token is refused twice waits until a new one may be made.
    private func untilRenewal(_ answer: APNsAnswer, now: Instant) -> Outcome {
        guard answer.remedy == .renewTokenAndResend, case .deferred(let rejection, nil) = answer.outcome, let token
        else { return answer.outcome }
        let wait = ProviderTokenAge.minimum - token.age(at: now)
        return .deferred(rejection, after: wait > .zero ? wait : nil)
    }

    private mutating func failed(
        _ flight: SlotTable.Flight,
        _ error: HTTP2Error,
        now: Instant,
        _ turn: inout PoolTurn
    ) {
        var item = flight.item
        let isHopeless = error.code == .deadlineExceeded || error.code == .canceled || !error.isRetriable
        if error.isUnsent, !isHopeless, phase != .ended, item.resends < limits.maxResends, item.job.deadline > now {
            item.resends += 1
            counters.resentCount += 1
            resend(item, &turn)
        } else {
            finish(item, Outcome(error), &turn)
        }
    }

    /// Gives a push its one more try; false if it has had it.
    private mutating func remedied(_ item: FairQueue.Item, now: Instant, _ turn: inout PoolTurn) -> Bool {
        guard !item.isRemedied, phase != .ended, item.job.deadline > now else { return false }
        var item = item
        item.isRemedied = true
        counters.resentCount += 1
        resend(item, &turn)
        return true
    }

    private mutating func resend(_ item: FairQueue.Item, _ turn: inout PoolTurn) {
        queue.resend(item)
        wake(at: item.job.deadline, &turn)
    }

    private mutating func finish(_ item: FairQueue.Item, _ outcome: Outcome, _ turn: inout PoolTurn) {
        counters.count(outcome, reasonLimit: limits.maxCountedReasons)
        // A yes without an id is a yes to ours.
        if case .accepted(let accepted) = outcome, accepted.id.isEmpty {
            let id = item.job.pushes[item.index].id.lowercased
            turn.complete(item.job, item.index, .accepted(TransportMessageID(id, logKey: accepted.logKey)))
        } else {
            turn.complete(item.job, item.index, outcome)
        }
    }

    /// Why a push that waited too long was not sent.
    private var lateness: TransportError {
        if case .open = phase { return TransportError(.timedOut, "no stream was free in time") }
        return TransportError(.noConnection, lastError ?? "no connection in time")
    }

    // MARK: Connections

    /// Moves on as far as it can: dials if something waits, submits if something may leave.
    private mutating func advance(_ now: Instant, _ turn: inout PoolTurn) {
        if case .waiting(let until) = phase, until <= now { phase = .idle }
        switch phase {
        case .idle: if !queue.isEmpty { dial(now, &turn) }
        case .open(let id): dispatch(to: id, now, &turn)
        case .obtainingToken, .connecting, .waiting, .ended: break
        }
    }

    private mutating func dial(_ now: Instant, _ turn: inout PoolTurn) {
        if let token, token.token != stale, isTokenUsable(at: now) {
            connect(token.token, &turn)
        } else {
            phase = .obtainingToken
            obtainToken(&turn)
        }
    }

    private mutating func connect(_ token: ProviderToken, _ turn: inout PoolTurn) {
        nextConnection += 1
        connections[nextConnection] = Record()
        phase = .connecting(nextConnection)
        credits = 0
        counters.connectCount += 1
        if nextConnection > 1 { counters.reconnectCount += 1 }
        turn.actions.append(.connect(nextConnection, token))
    }

    private mutating func dispatch(to id: ConnectionID, _ now: Instant, _ turn: inout PoolTurn) {
        guard !queue.isEmpty, credits > 0, isTokenFresh(now, &turn) else { return }
        var room = min(credits, slots.room)
        turn.connection = id
        while room > 0, let item = queue.next() {
            guard item.job.deadline > now else {
                finish(item, .unsent(lateness), &turn)
                continue
            }
            guard let slot = slots.insert(SlotTable.Flight(item: item, connection: id)) else {
                return queue.resend(item)
            }
            turn.tickets.append(PoolTurn.Ticket(slot: slot, job: item.job, index: item.index))
            room -= 1
            credits -= 1
        }
    }

    /// No new streams on a connection, which finishes what it has.
    ///
    /// The first replacement is dialled at once, further ones back off: an endpoint that refuses every connection's token must not be
    /// dialled in a loop.
    private mutating func retire(_ id: ConnectionID, now: Instant, _ turn: inout PoolTurn) {
        guard phase == .open(id) else { return }
        turn.actions.append(.close(id))
        back(off: now, &turn)
        failureCount += 1
    }

    private mutating func fail(_ error: HTTP2Error?, now: Instant, _ turn: inout PoolTurn) {
        failureCount += 1
        lastError = error?.code.description ?? "the connection was closed"
        back(off: now, &turn)
    }

    private mutating func back(off now: Instant, _ turn: inout PoolTurn) {
        credits = 0
        let delay = limits.backoff.delay(failureCount: failureCount, random: jitter())
        guard delay > .zero else {
            phase = .idle
            return
        }
        phase = .waiting(until: now + delay)
        wake(at: now + delay, &turn)
    }

    // MARK: Tokens, time and the end

    private func isTokenUsable(at now: Instant) -> Bool {
        token.map { $0.age(at: now) < ProviderTokenAge.expiry } ?? false
    }

    /// Whether pushes may leave with the token at hand; asks for the next one when that is due.
    private mutating func isTokenFresh(_ now: Instant, _ turn: inout PoolTurn) -> Bool {
        guard let token else { return false }
        let age = token.age(at: now)
        if age >= ProviderTokenAge.renewal, nextTokenTry.map({ $0 <= now }) ?? true { obtainToken(&turn) }
        return age < ProviderTokenAge.expiry
    }

    private mutating func obtainToken(_ turn: inout PoolTurn) {
        guard !isObtainingToken else { return }
        isObtainingToken = true
        turn.actions.append(.obtainToken(replacing: stale))
    }

    private mutating func wake(at time: Instant, _ turn: inout PoolTurn) {
        if let wakeAt, wakeAt <= time { return }
        wakeAt = time
        turn.actions.append(.wake(time))
    }

    private mutating func reportEnd(_ turn: inout PoolTurn) {
        guard phase == .ended, !hasReportedEnd, connections.isEmpty, slots.count == 0 else { return }
        hasReportedEnd = true
        turn.actions.append(.ended)
    }
}
