/// Decides which calls go to the server together and share one flush to disk. Pure: time and the calls themselves stay outside.
///
/// A call that finds few groups under way leaves at once, so that one alone never waits. Others gather until a group comes back, or for the window: the
/// busier the disk, the more share a flush.
struct GatherMachine<Call: Sendable>: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// What to do outside the lock.
    struct Action: Sendable {
        /// Send off each group, and say `landed` when it is back.
        var groups: [[Call]] = []
        /// Say `ticked` then.
        var wakesAt: Instant?
    }

    private struct Waiting: Sendable {
        var call: Call
        var since: Instant
    }

    let limits: GatherLimits
    private var waiting: [Waiting] = []
    private(set) var underWay = 0
    /// Whether a `ticked` was asked for and has not come.
    private var willTick = false

    init(limits: GatherLimits) { self.limits = limits }

    /// A call wants to go. Nil: too many wait.
    mutating func arrived(_ call: Call, now: Instant) -> Action? {
        guard waiting.count < limits.maximumWaiters else { return nil }
        waiting.append(Waiting(call: call, since: now))
        return next(now)
    }

    /// A group has come back.
    mutating func landed(now: Instant) -> Action {
        underWay = max(0, underWay - 1)
        return next(now)
    }

    /// The time asked for has come.
    mutating func ticked(now: Instant) -> Action {
        willTick = false
        return next(now)
    }

    private mutating func next(_ now: Instant) -> Action {
        var action = Action()
        while let first = waiting.first, mayLeave(first, now) {
            action.groups.append(waiting.prefix(limits.callsPerGroup).map(\.call))
            waiting.removeFirst(min(waiting.count, limits.callsPerGroup))
            underWay += 1
        }
        if let first = waiting.first, underWay < limits.maximumGroups, !willTick {
            willTick = true
            action.wakesAt = first.since + limits.window
        }
        return action
    }

    private func mayLeave(_ first: Waiting, _ now: Instant) -> Bool {
        if underWay < limits.eagerGroups { return true }
        return underWay < limits.maximumGroups
            && (waiting.count >= limits.sharingCalls || first.since + limits.window <= now)
    }
}

/// Bounds of gathering.
struct GatherLimits: Sendable {
    /// Groups under way below which a call leaves at once.
    var eagerGroups = 1

    /// Groups under way at most, each on a session of its own. Two: one at the disk or behind a lock, one that computes. A third makes them smaller, and the
    /// server's work per call 5 to 10 % dearer (256 connections).
    var maximumGroups = 2

    /// How long a call waits for others while less than `maximumGroups` are under way.
    var window: Duration = .milliseconds(2)

    /// Calls that leave without waiting longer, for a second group: enough to share a flush, and while they compute the next ones are read.
    var sharingCalls = 64

    /// Calls in one group: its last answer must not be late, and its answers lie in memory until the flush.
    var callsPerGroup = 128

    /// Calls that may wait; above it we shed, as a pool does.
    var maximumWaiters = 2048
}
