/// Decides who gets which session. Pure: time, randomness and the sessions themselves stay outside.
///
/// A slot is: *opening* (goes to leased, gone) → *leased* (goes to idle, leased by a waiter, gone) → *idle* (goes to leased, gone).
struct PoolMachine {
    typealias Instant = ContinuousClock.Instant

    /// Names one session of the pool for its whole life.
    struct Slot: Hashable { var number: Int }

    /// Names one call that waits.
    struct Waiter: Hashable { var number: UInt64 }

    /// The answer to a call that wants a session.
    enum Grant: Equatable {
        /// This session is yours until you release it.
        case lease(Slot)
        /// Open this one yourself, then say `opened` or `openFailed`.
        case open(Slot)
        case fail(PostgresError)
    }

    /// What to do outside the lock: answer waiters, let sessions go.
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

    /// When each open slot is too old.
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

    /// Whether every session has gone, after `close`.
    var isDrained: Bool { isClosed && openCount == 0 }

    /// Counts as they are now.
    var currentStatistics: PoolStatistics {
        var now = statistics
        now.openCount = openCount
        now.idleCount = idle.count
        now.waitingCount = waiting.count
        return now
    }

    // MARK: Events

    /// A call wants a session and would take one at once. Nil: it has to wait.
    mutating func acquired(now: Instant) -> Grant? {
        if isClosed { return .fail(PostgresError(.closed)) }
        // The youngest idle session, so that the others can grow old and go.
        if waiting.isEmpty, let last = idle.popLast() { return .lease(last.slot) }
        if waiting.isEmpty, mayOpen(now) { return .open(newSlot()) }
        guard waiting.count < limits.maximumWaiters else {
            statistics.shedCount += 1
            return .fail(PostgresError(.overloaded, reason: "too many waiters"))
        }
        return nil
    }

    /// A name for a call that is about to wait.
    mutating func makeWaiter() -> Waiter {
        nextWaiter += 1
        return Waiter(number: nextWaiter)
    }

    /// The call goes to the end of the queue; a session may have come back since it was turned away.
    mutating func waited(_ waiter: Waiter, until deadline: Instant, now: Instant) -> Action {
        guard !isClosed else { return Action(grants: [waiter: .fail(PostgresError(.closed))]) }
        waiting.append(Waiting(waiter: waiter, deadline: deadline))
        return serve(now)
    }

    /// The caller of a waiting call has gone away. False when it was answered already.
    mutating func waiterCancelled(_ waiter: Waiter) -> Bool {
        guard let index = waiting.firstIndex(where: { $0.waiter == waiter }) else { return false }
        waiting.remove(at: index)
        return true
    }

    /// The session of an opening slot is there; the slot is leased to who opened it.
    mutating func opened(_ slot: Slot, now: Instant, random: inout some RandomNumberGenerator) -> Action {
        guard openingSlots.remove(slot) != nil else { return Action() }
        expiries[slot] = now + limits.maximumAge * Double.random(in: 0.9...1, using: &random)
        statistics.openedCount += 1
        backoff.succeeded()
        mayOpenAt = nil
        lastOpenError = nil
        return serve(now)
    }

    /// No session for an opening slot. Others wait for the pause that is due.
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

    /// A leased session comes back.
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

    /// Time has passed: late waiters, pauses that are over, sessions that are too old or idle for too long.
    mutating func ticked(now: Instant) -> Action {
        var action = serve(now)
        for late in waiting where late.deadline <= now {
            statistics.shedCount += 1
            // The reason that matters to the caller: there is no database, not that the pool is busy.
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

    /// No more calls. Leased sessions go when they come back.
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

    /// When `ticked` has something to do for those who wait; nil while nobody does.
    func nextTick(now: Instant) -> Instant? {
        guard let earliest = waiting.map(\.deadline).min() else { return nil }
        // A pause that is over needs no bell: who probes now will tell.
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
        // After a failure one call probes; the rest wait for its answer.
        return now >= mayOpenAt && openingSlots.isEmpty
    }

    private mutating func newSlot() -> Slot {
        nextSlot += 1
        let slot = Slot(number: nextSlot)
        openingSlots.insert(slot)
        return slot
    }

    /// Answers those who wait longest, as far as sessions go.
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
