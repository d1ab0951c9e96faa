/// Assigns sessions to calls. Pure: the caller passes time and randomness and keeps the sessions.
///
/// The states of a slot: *opening* (goes to leased, gone) → *leased* (goes to idle, leased by a waiter, gone) → *idle* (goes to leased, gone).
struct PoolMachine {
    typealias Instant = ContinuousClock.Instant

    /// Identifies one session of the pool for its whole life.
    struct Slot: Hashable { var number: Int }

    /// Identifies one waiting call.
    struct Waiter: Hashable { var number: UInt64 }

    /// The answer to a call that requests a session.
    enum Grant: Equatable {
        /// The session belongs to the call until the call releases it.
        case lease(Slot)
        /// The call must open the session itself, then call `opened` or `openFailed`.
        case open(Slot)
        case fail(PostgresError)
    }

    /// The work to do outside the lock: answer waiting calls, close sessions.
    struct Action: Equatable {
        var grants: [Waiter: Grant] = [:]
        var closing: [Slot] = []
    }

    private struct Idle {
        var slot: Slot
        var since: Instant
    }

    private struct Waiting {
        var waiter: Waiter
        var deadline: Instant
    }

    let limits: PoolLimits
    private(set) var statistics = PoolStatistics()
    private(set) var isClosed = false

    /// The time at which each open slot reaches its maximum age.
    private var expiries: [Slot: Instant] = [:]
    private var openingSlots: Set<Slot> = []
    private var idle: [Idle] = []
    private var waiting: [Waiting] = []
    private var backoff = Backoff()
    private var mayOpenAt: Instant?
    private var lastOpenError: PostgresError?
    private var nextSlot = 0
    private var nextWaiter: UInt64 = 0

    init(limits: PoolLimits) { self.limits = limits }

    private var openCount: Int { expiries.count + openingSlots.count }

    /// Whether every session is closed, after `close`.
    var isDrained: Bool { isClosed && openCount == 0 }

    /// The counts at this moment.
    var currentStatistics: PoolStatistics {
        var now = statistics
        now.openCount = openCount
        now.idleCount = idle.count
        now.waitingCount = waiting.count
        return now
    }

    // MARK: Events

    /// A call requests a session that is available at once. Nil: the call has to wait.
    mutating func acquired(now: Instant) -> Grant? {
        if isClosed { return .fail(PostgresError(.closed)) }
        // The session that was used last, so that the others can become idle for long enough to be closed.
        if waiting.isEmpty, let last = idle.popLast() { return .lease(last.slot) }
        if waiting.isEmpty, mayOpen(now) { return .open(newSlot()) }
        guard waiting.count < limits.maximumWaiters else {
            statistics.shedCount += 1
            return .fail(PostgresError(.overloaded, reason: "too many waiters"))
        }
        return nil
    }

    /// Returns an identifier for a call that is about to wait.
    mutating func makeWaiter() -> Waiter {
        nextWaiter += 1
        return Waiter(number: nextWaiter)
    }

    /// Appends the call to the queue. A session may have been released since the call was sent to the queue.
    mutating func waited(_ waiter: Waiter, until deadline: Instant, now: Instant) -> Action {
        guard !isClosed else { return Action(grants: [waiter: .fail(PostgresError(.closed))]) }
        waiting.append(Waiting(waiter: waiter, deadline: deadline))
        return serve(now)
    }

    /// The caller of a waiting call was cancelled. Returns false when the call has an answer already.
    mutating func waiterCancelled(_ waiter: Waiter) -> Bool {
        guard let index = waiting.firstIndex(where: { $0.waiter == waiter }) else { return false }
        waiting.remove(at: index)
        return true
    }

    /// The session of an opening slot is open. The slot is leased to the call that opened it.
    mutating func opened(_ slot: Slot, now: Instant, random: inout some RandomNumberGenerator) -> Action {
        guard openingSlots.remove(slot) != nil else { return Action() }
        expiries[slot] = now + limits.maximumAge * Double.random(in: 0.9...1, using: &random)
        statistics.openedCount += 1
        backoff.succeeded()
        mayOpenAt = nil
        lastOpenError = nil
        return serve(now)
    }

    /// The session of an opening slot could not be opened. Other calls wait for the pause before the next attempt.
    mutating func openFailed(
        _ slot: Slot,
        _ error: PostgresError,
        now: Instant,
        random: inout some RandomNumberGenerator
    ) -> Action {
        guard openingSlots.remove(slot) != nil else { return Action() }
        guard error.code != .cancelled else { return serve(now) }
        statistics.openFailureCount += 1
        lastOpenError = error
        mayOpenAt = now + backoff.failed(random: &random)
        return Action()
    }

    /// A call releases its session.
    mutating func released(_ slot: Slot, isReusable: Bool, now: Instant) -> Action {
        guard let expiry = expiries[slot] else { return Action() }
        guard isReusable, !isClosed, now < expiry else {
            if !isReusable { statistics.discardedCount += 1 }
            expiries[slot] = nil
            var action = serve(now)
            action.closing.append(slot)
            return action
        }
        idle.append(Idle(slot: slot, since: now))
        return serve(now)
    }

    /// Time has passed: handles waiters whose deadline passed, pauses that ended, and sessions that are too old or idle for too long.
    mutating func ticked(now: Instant) -> Action {
        var action = serve(now)
        for late in waiting where late.deadline <= now {
            statistics.shedCount += 1
            // The cause that matters to the caller: the database is unreachable, not that the pool is busy.
            action.grants[late.waiter] = .fail(
                lastOpenError ?? PostgresError(.overloaded, reason: "no connection in time")
            )
        }
        waiting.removeAll { $0.deadline <= now }
        let old = idle.filter { isTooOld($0, now) }.map(\.slot)
        idle.removeAll { old.contains($0.slot) }
        for slot in old { expiries[slot] = nil }
        action.closing += old
        return action
    }

    /// Refuses further calls. Leased sessions are closed when they are released.
    mutating func closed() -> Action {
        isClosed = true
        var action = Action()
        for waiter in waiting { action.grants[waiter.waiter] = .fail(PostgresError(.closed)) }
        waiting = []
        for session in idle {
            expiries[session.slot] = nil
            action.closing.append(session.slot)
        }
        idle = []
        return action
    }

    /// The time at which `ticked` has work for waiting calls; nil when no call waits.
    func nextTick(now: Instant) -> Instant? {
        guard let earliest = waiting.map(\.deadline).min() else { return nil }
        // A pause that has ended needs no timer: the call that probes the server reports the result.
        guard let mayOpenAt, mayOpenAt > now else { return earliest }
        return min(mayOpenAt, earliest)
    }

    // MARK: Helpers

    private func isTooOld(_ session: Idle, _ now: Instant) -> Bool {
        let expiry = expiries[session.slot] ?? now
        return expiry <= now || session.since + limits.maximumIdle <= now
    }

    private func mayOpen(_ now: Instant) -> Bool {
        guard openCount < limits.maximumConnections, !isClosed else { return false }
        guard let mayOpenAt else { return true }
        // After a failure one call probes the server. The others wait for its result.
        return now >= mayOpenAt && openingSlots.isEmpty
    }

    private mutating func newSlot() -> Slot {
        nextSlot += 1
        let slot = Slot(number: nextSlot)
        openingSlots.insert(slot)
        return slot
    }

    /// Answers the calls that wait longest, as far as sessions are available.
    private mutating func serve(_ now: Instant) -> Action {
        var action = Action()
        while let first = waiting.first {
            if let session = idle.popLast() {
                action.grants[first.waiter] = .lease(session.slot)
            } else if mayOpen(now) {
                action.grants[first.waiter] = .open(newSlot())
            } else {
                break
            }
            waiting.removeFirst()
        }
        return action
    }
}
