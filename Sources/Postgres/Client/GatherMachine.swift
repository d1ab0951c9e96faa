/// Decides which calls go to the server together: writes that share one flush to disk, or reads that are merged. Pure: the caller passes the time and keeps the calls.
///
/// A call is sent at once when few groups are under way, so that a single call never waits. Other calls gather until a group returns, or until the window
/// ends: the busier the disk, the more calls share a flush.
struct GatherMachine<Call: Sendable>: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// The work to do outside the lock.
    struct Action: Sendable {
        /// Groups to send. Call `landed` when a group has returned.
        var groups: [[Call]] = []
        /// The time at which to call `ticked`.
        var wakesAt: Instant?
    }

    private struct Waiting: Sendable {
        var call: Call
        var since: Instant
    }

    let limits: GatherLimits
    private var waiting: [Waiting] = []
    private(set) var underWay = 0
    /// The number of calls that wait for a group.
    var waitingCount: Int { waiting.count }
    /// Whether a `ticked` was requested and has not happened yet.
    private var willTick = false

    init(limits: GatherLimits) { self.limits = limits }

    /// A call is to be sent. Returns nil when too many calls wait.
    mutating func arrived(_ call: Call, now: Instant) -> Action? {
        guard waiting.count < limits.maximumWaiters else { return nil }
        waiting.append(Waiting(call: call, since: now))
        return next(now)
    }

    /// A group has returned.
    mutating func landed(now: Instant) -> Action {
        underWay = max(0, underWay - 1)
        return next(now)
    }

    /// The requested time has come.
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

/// Limits of gathering.
struct GatherLimits: Sendable {
    /// While fewer groups than this are under way, a call is sent at once.
    var eagerGroups = 1

    /// The maximum number of groups under way, each on its own session. Two: one waits for the disk or a lock while the other computes. A third makes the
    /// groups smaller, and the server's work per call 5 to 10 % more expensive (measured with 256 connections).
    var maximumGroups = 2

    /// How long a call waits for others while fewer than `maximumGroups` are under way.
    var window: Duration = .milliseconds(2)

    /// When this many calls wait, a second group is sent at once: they are enough to share a flush, and the next calls are read while they compute.
    var sharingCalls = 64

    /// The maximum number of calls in one group: its last result must not be late, and its results stay in memory until the flush.
    var callsPerGroup = 128

    /// The maximum number of waiting calls. Further calls are refused, as in a pool.
    var maximumWaiters = 2048
}
