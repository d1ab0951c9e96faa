/// How long what is kept.
package struct RetentionPolicy: Sendable, Hashable {
    /// Deliveries, by whole weeks of their due day.
    package var deliveries: Duration
    /// Messages, and media that only they show. As long as apps keep theirs: RationalOwl's demo apps keep 100 days.
    package var messages: Duration
    /// Events: how long a reader may lag.
    package var events: Duration
    /// Events that a webhook was not told of yet. A bound, because a webhook that nobody calls for must not keep a log for ever.
    package var untoldEvents: Duration
    /// Idempotency keys. At least 24 hours are promised.
    package var idempotency: Duration
    /// A node that was not seen for so long is dead.
    package var deadNode: Duration
    /// Partitions made ahead.
    package var weeksAhead: Int

    package init(
        deliveries: Duration = .seconds(90 * 86400),
        messages: Duration = .seconds(100 * 86400),
        events: Duration = .seconds(7 * 86400),
        untoldEvents: Duration = .seconds(14 * 86400),
        idempotency: Duration = .seconds(48 * 3600),
        deadNode: Duration = .seconds(60),
        weeksAhead: Int = 5
    ) {
        self.deliveries = deliveries
        self.messages = messages
        self.events = events
        self.untoldEvents = untoldEvents
        self.idempotency = idempotency
        self.deadNode = deadNode
        self.weeksAhead = weeksAhead
    }
}

/// What one round of upkeep did.
package struct MaintenanceReport: Sendable, Hashable {
    /// Whether this node did it; another one does otherwise.
    package var isLeader = false
    package var partitionsMade = 0
    package var partitionsDropped = 0
    package var messagesRemoved = 0
    package var eventsRemoved = 0
    package var keysExpired = 0
    package var nodesSwept = 0

    package init() {}
}
