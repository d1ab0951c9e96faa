package import Model

/// The result of one round of maintenance.
package struct MaintenanceReport: Sendable, Hashable {
    /// Whether this node did the maintenance; otherwise another node does.
    package var isLeader = false
    /// False: the time of the round ended before everything was removed.
    package var isComplete = true
    /// The number of partition changes that a long transaction prevented. The next round tries again.
    package var changesWaiting = 0
    /// The steps that failed. Each failure ends one step, of one tenant if it has one, and no other.
    package var failures: [MaintenanceFailure] = []

    package var partitionsMade = 0
    package var partitionsDropped = 0
    package var messagesRemoved = 0
    /// Media that were examined.
    package var mediaSwept = 0
    /// Events of tenants with a shorter retention than their partition.
    package var eventsRemoved = 0
    /// Rows of `event_position` other than the last one of a tenant.
    package var positionsRemoved = 0
    package var keysExpired = 0
    /// Deliveries of tenants with a shorter retention than their partition, and in the default partition.
    package var deliveriesRemoved = 0
    package var inboxRemoved = 0
    package var auditRemoved = 0
    package var capturesRemoved = 0
    package var verificationsRemoved = 0
    /// Expected users whose end has come.
    package var expectationsRemoved = 0
    package var activityTokensRemoved = 0
    /// Challenges that ended without an answer.
    package var challengesRemoved = 0
    /// Erased identities whose late deliveries were searched.
    package var erasuresRepeated = 0
    /// Counts of recipients per API key and day.
    package var keyDaysRemoved = 0
    /// Rows of counts of deliveries.
    package var countsRemoved = 0
    /// Identities that reached their end.
    package var identitiesEnded = 0
    /// Acts of users.
    package var actsRemoved = 0
    package var talliesRemoved = 0
    /// Forwarded calls that waited too long.
    package var forwardedRemoved = 0
    /// Records of calls that sent messages, and the users of these calls.
    package var upstreamCallsRemoved = 0
    /// Latencies, sketches, changes of devices, and marks of receipts.
    package var figuresRemoved = 0
    package var nodesSwept = 0

    package init() {}
}

/// A step of maintenance that failed.
package struct MaintenanceFailure: Sendable, Hashable {
    package var step: MaintenanceStep
    package var tenant: TenantID?
    package var error: StoreError

    package init(_ step: MaintenanceStep, of tenant: TenantID? = nil, _ error: StoreError) {
        self.step = step
        self.tenant = tenant
        self.error = error
    }
}

/// The steps of a round of maintenance, by the names that metrics and logs show.
package enum MaintenanceStep: String, CaseIterable, Sendable {
    case makePartitions = "make partitions"
    case dropPartitions = "drop partitions"
    case nodes, messages, media, events, positions, keys, deliveries, inbox, acts, tallies, audit, verifications,
        expectations
    case activityTokens = "activity tokens"
    case identities, captures, challenges, erasures
    case forwarded = "forwarded calls"
    case upstreamCalls = "calls to upstreams"
    case keyDays = "days of keys"
    case counts, countedReasons = "counts by reason"
    case figures

    /// The number in the report that the step increases.
    package var count: WritableKeyPath<MaintenanceReport, Int> {
        switch self {
        case .makePartitions: \.partitionsMade
        case .dropPartitions: \.partitionsDropped
        case .nodes: \.nodesSwept
        case .messages: \.messagesRemoved
        case .media: \.mediaSwept
        case .events: \.eventsRemoved
        case .positions: \.positionsRemoved
        case .keys: \.keysExpired
        case .deliveries: \.deliveriesRemoved
        case .inbox: \.inboxRemoved
        case .acts: \.actsRemoved
        case .tallies: \.talliesRemoved
        case .audit: \.auditRemoved
        case .verifications: \.verificationsRemoved
        case .expectations: \.expectationsRemoved
        case .activityTokens: \.activityTokensRemoved
        case .identities: \.identitiesEnded
        case .captures: \.capturesRemoved
        case .challenges: \.challengesRemoved
        case .erasures: \.erasuresRepeated
        case .forwarded: \.forwardedRemoved
        case .upstreamCalls: \.upstreamCallsRemoved
        case .keyDays: \.keyDaysRemoved
        case .counts, .countedReasons: \.countsRemoved
        case .figures: \.figuresRemoved
        }
    }
}
