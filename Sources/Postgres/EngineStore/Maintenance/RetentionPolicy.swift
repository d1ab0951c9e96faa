import Model
import PostgresClient
import Store

/// How long each kind of data is kept.
package struct RetentionPolicy: Sendable, Hashable {
    /// Deliveries, by whole weeks of their due day.
    package var deliveries: Duration
    /// Messages, and media that no other message uses. As long as the longest retention in apps: RationalOwl's demo apps keep 100 days.
    package var messages: Duration
    /// Events, by whole days. It limits how far a reader may lag.
    package var events: Duration
    /// Events that a webhook has not received yet. Limited, because a webhook that fails permanently must not keep the log for ever.
    package var untoldEvents: Duration
    /// Idempotency keys and the answers stored under them. At least 24 hours are guaranteed.
    package var idempotency: Duration
    /// The audit. The database keeps 30 days regardless of this value.
    package var audit: Duration
    /// Captures, counted from the end of their time. A capture that is needed longer can be printed.
    package var captures: Duration
    /// Acts of users. While an act is kept, a repeated report of it is recognised.
    package var acts: Duration
    /// Counts of deliveries, and the figures of the event reader, by whole days.
    package var analytics = Duration.seconds(400 * 86400)
    /// Forwarded calls that wait for an upstream. A vendor that missed more days needs an export of the devices.
    package var forwarded = Duration.seconds(7 * 86400)
    /// The users of calls that sent messages, counted from the due time: longer than the life of a message and the waits of its local times.
    package var upstreamUsers = Duration.seconds(35 * 86400)
    /// How often a user did something, counted from the last time.
    package var tallies: Duration
    /// After this time without a heartbeat, a node counts as dead.
    package var deadNode: Duration
    /// The number of weekly partitions created ahead: eight, so that a lock that lasts for weeks does not matter.
    package var weeksAhead: Int
    /// The number of daily partitions of the event log created ahead. Few, because every statement that reads the whole log opens each partition.
    package var eventDaysAhead: Int

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
        weeksAhead: Int = 8,
        eventDaysAhead: Int = 3
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
        self.eventDaysAhead = eventDaysAhead
    }
}

extension RetentionPolicy {
    /// Returns the policy with the values of a tenant in place of the defaults.
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
        case .analytics: \.analytics
        case .idempotency: \.idempotency
        }
    }
}
