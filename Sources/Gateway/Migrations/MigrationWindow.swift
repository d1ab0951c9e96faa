package import Model

/// The times that the figures of a step cover: the whole step, and its last quarter hours. Pure.
package struct MigrationWindow: Sendable, Hashable {
    /// Seven days: of a longer step, the last days count.
    package static let longest = Duration.seconds(7 * 86_400)
    /// This quarter hour and the one before: 15 to 30 minutes.
    private static let recentQuarters: Int32 = 2

    /// Calls count since then.
    package let since: Timestamp
    /// Pushes are counted by whole quarter hours. That in which the step began also has pushes from before it, and counts only until the first whole one of
    /// the step has passed: a step of a few minutes has no other.
    package let quarters: QuarterRange
    /// The last quarter hours. They say nothing of their own while the step has none before them.
    package let recent: QuarterRange

    /// - Parameters:
    ///   - start: when the step came into force.
    ///   - now: the time of the measurement.
    package init(from start: Timestamp, to now: Timestamp) {
        since = max(start, now + (.zero - Self.longest))
        var quarters = QuarterRange(since..<max(now + .milliseconds(1), since))
        recent = QuarterRange(from: max(0, quarters.to &- Self.recentQuarters), to: quarters.to)
        if quarters.start < since, recent.from > quarters.from { quarters.from += 1 }
        self.quarters = quarters
    }

    /// Since when calls are recent. Nil: the whole step is.
    package var recentCalls: Timestamp? { recent.start > since ? recent.start : nil }

    /// Whether pushes before the last quarter hours count.
    package var hasEarlierPushes: Bool { recent.from > quarters.from }
}
