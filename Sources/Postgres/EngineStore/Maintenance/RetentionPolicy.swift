import Model
import PostgresClient
import Store

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
    /// Idempotency keys and the answers kept under them. At least 24 hours are promised.
    package var idempotency: Duration
    /// The audit. The database keeps 30 days whatever is said here.
    package var audit: Duration
    /// Captures, from the end of their time on: whoever needs one longer prints it.
    package var captures: Duration
    /// What users did. As long as it is kept it is known again when it is told twice.
    package var acts: Duration
    /// How often a user did what, since it last happened.
    package var tallies: Duration
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
        audit: Duration = .seconds(400 * 86400),
        captures: Duration = .seconds(7 * 86400),
        acts: Duration = .seconds(90 * 86400),
        tallies: Duration = .seconds(400 * 86400),
        deadNode: Duration = .seconds(60),
        weeksAhead: Int = 5
    ) {
        self.deliveries = deliveries
        self.messages = messages
        self.events = events
        self.untoldEvents = untoldEvents
        self.idempotency = idempotency
        self.audit = audit
        self.captures = captures
        self.acts = acts
        self.tallies = tallies
        self.deadNode = deadNode
        self.weeksAhead = weeksAhead
    }
}

extension RetentionPolicy {
    /// The same with what a tenant says of itself.
    func overlaid(by tenant: TenantRetention) -> RetentionPolicy {
        var policy = self
        for (name, duration) in tenant.durations { policy[keyPath: name.policy] = duration }
        return policy
    }
}

extension TenantRetention.Name {
    fileprivate var policy: WritableKeyPath<RetentionPolicy, Duration> {
        switch self {
        case .deliveries: \.deliveries
        case .messages: \.messages
        case .events: \.events
        case .audit: \.audit
        case .idempotency: \.idempotency
        }
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
    /// Deliveries of tenants that keep them shorter than the partition lives.
    package var deliveriesRemoved = 0
    package var auditRemoved = 0
    package var capturesRemoved = 0
    /// Whose own time was over.
    package var identitiesEnded = 0
    /// Of users.
    package var actsRemoved = 0
    package var nodesSwept = 0

    package init() {}
}
