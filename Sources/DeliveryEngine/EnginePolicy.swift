/// The engine's limits. Each states the harm of other values; all are settings.
package struct EnginePolicy: Sendable {
    // MARK: Leases

    /// 30 s. If shorter, a pause of PostgreSQL passes running slices to other nodes, which repeats pushes; if longer, the slices of a crashed node are
    /// idle longer.
    package var lease: Duration = .seconds(30)
    /// A slice is given up after 16 consecutive leases that expired without being given back. With fewer, a night of restarts stops deliveries; with
    /// more, a slice that crashes its node crashes all nodes in turn.
    package var lapseLimit: Int16 = 16
    /// A slice is given up after 32 consecutive failures of the same lease that the database itself answered, about two and a half minutes: its content
    /// cannot be read or expanded. With fewer, a brief fault of the database gives up messages; with more, such a slice holds a place for longer.
    package var faultLimit = 32
    /// 200 ms between searches for due work. A shorter interval costs useless database queries; a longer one delays retries and recoveries.
    package var pollInterval: Duration = .milliseconds(200)
    /// 5 s between searches for slices whose lease has expired, and at most a sixth of the lease. Every slice that was sent from memory leaves an index entry
    /// that such a search reads while an old snapshot, such as that of a backup, is open. A longer interval delays the slices of a crashed node.
    package var lapsedInterval: Duration = .seconds(5)
    /// 5 s between heartbeats. A node that misses several is considered dead. Between two heartbeats the estimate of the database's clock drifts.
    package var heartbeatInterval: Duration = .seconds(5)

    // MARK: Shares

    /// Slices start while fewer than 32,000 targets run on a node: 64 full slices. Each holds up to 500 payloads (2 MB at APNs' limit): more would use memory
    /// without more speed.
    package var targetsPerNode = 32_000
    /// 4,000 of the 32,000 are reserved for urgent and transactional work. Without the reserve, a campaign would delay a one-time code.
    package var targetsReserved = 4000
    /// 6,000 for one tenant, 12 full slices; urgent work is counted separately. With more, a tenant whose vendor does not answer occupies the node.
    package var targetsPerTenant = 6000
    /// A slice counts as at least 8 targets, so a node runs at most 4,000 slices, and 750 of one tenant. With less, the tasks, leases and events of small
    /// slices cost more than their pushes; with more, messages to single devices wait for a slow push service while its streams are free.
    package var leastTargets = 8
    /// Slices send through one credential while those that do have fewer than 4,000 targets, which is about the number of pushes in flight. More would only
    /// queue in its connections, and the tenant's other credentials would wait.
    package var targetsPerCredential = 4000
    /// At most 8 running slices for one upstream, whatever their size: a slice is one call, or a few, and the upstream's callers share its calls in flight.
    package var slicesPerUpstream = 8
    /// While a credential turns slices of a tenant away, the tenant runs at most 4 more than have a place. With more, small slices are read and put back again
    /// and again; with fewer, the tenant's other credentials wait.
    package var slicesWaiting = 4
    /// A slice with written payloads waits up to 1 s for its credential to accept another slice. Then it is put back for at least 1 s. If shorter, a slow
    /// credential causes load on the database; if longer, the tenant's other credentials wait.
    package var fullRetry: Duration = .seconds(1)
    /// Such a slice is put back for at most 30 s. The wait is as long as the credential has been full, so a push service that does not answer is tried
    /// less and less often. A push ends after 20 s in any case (`pushDeadline`).
    package var fullLongest: Duration = .seconds(30)
    /// 100 ms between draws from the budgets of credentials that have a rate, while a slice waits for one. A draw reaches 250 ms ahead
    /// (`BudgetDraw.ahead`), so that a late draw loses nothing. The further it reaches ahead, the more a node may hold that another one needs.
    package var drawInterval: Duration = .milliseconds(100)
    /// A slice with written payloads waits 5 s for its share of a rate; then another slice takes its turn. This limits the time until a cancellation or
    /// pause is noticed.
    package var meteredStay: Duration = .seconds(5)
    /// 2,000 targets per tenant and round, so that tenants take turns. With fewer, each claim gets little; with more, a small tenant waits longer
    /// behind large ones.
    package var targetsPerRound = 2000
    /// 4 slices per claim of a tenant. With more, one node takes a small campaign alone.
    package var claimLimit = 4
    /// 200 tenants per search in a lane: one page of the discovery statement.
    package var discoveryLimit = 200
    /// At most 256 leases from acceptance wait in memory (each holds up to 500 target ids). Leases beyond that are given back, so that any node can claim them.
    package var offerLimit = 256
    /// About 10,000 targets per page of an audience: twenty slices in one transaction of 10 to 30 ms. With fewer, the commits cost more than the reading.
    package var expansionPageSize = 10_000

    // MARK: Progress

    /// 250 ms between flushes of a slice: a crash repeats at most the pushes of this period.
    package var flushInterval: Duration = .milliseconds(250)
    /// A flush is due after 250 results: the number of pushes that a crash can repeat at high speed.
    package var flushCount = 250
    /// The wait before a refused or failed store call is repeated.
    package var storeBackoff = RetryBackoff(first: .milliseconds(100), cap: .seconds(5))

    /// 3 attempts to record a call to an upstream before it is put back. With more, a slice waits for a database that does not answer, and its lease ends.
    package var beginAttempts = 3

    // MARK: Deadlines

    /// 20 s from the stop request until slices that still wait for answers are given up. It must be shorter than the process manager's stop timeout.
    package var drainDeadline: Duration = .seconds(20)
    /// A further 3 s to write the results of the slices that were given up. With less, slices stay owned until their leases expire.
    package var drainGrace: Duration = .seconds(3)
    /// 20 s for the answer to one push (docs/contracts/apns.md#13.6). If shorter, slow answers count as missing, which repeats pushes.
    package var pushDeadline: Duration = .seconds(20)

    /// The rules of resending.
    package var retry = RetryPolicy()
    /// A target whose permitted hours begin within 1 s is sent now. Slices become due by the database's clock, but this node compares hours with an
    /// estimate of that clock; a target that is put back for a shorter time would return at once.
    package var timingSlack: Duration = .seconds(1)

    package init() {}

    /// Scales every wait before a retry; tests against a simulator use a small value.
    package var retryScale: Double {
        get { retry.scale }
        set { retry.scale = newValue }
    }
}

/// Whether a push is sent again that was sent and not answered. Apple does not remove duplicates by `apns-id`; only a collapse id hides a repeat
/// (docs/contracts/apns.md#13.4).
package enum RetryUnknown: String, Sendable, Hashable, CaseIterable {
    /// The push counts as sent and is marked uncertain.
    case never
    /// The push is sent again if it carries a collapse id; otherwise as `never`.
    case withCollapse
    /// The push is sent again: the device may show it twice.
    case always
}

/// The waits and limits for retrying pushes that were not settled.
package struct RetryPolicy: Sendable {
    /// The rule for a push without an answer.
    package var unknown: RetryUnknown = .withCollapse
    /// 3 immediate resends of a push that was not processed. With more, a peer that refuses everything causes a tight loop.
    package var immediateResends: Int16 = 3
    /// 2 s after these resends, if no push was processed. No attempt is counted, so that an outage of the peer fails no delivery.
    package var unsent: Duration = .seconds(2)
    /// 5xx: Apple asks for at least 15 minutes (docs/contracts/apns.md#9.2).
    package var service = RetryBackoff(first: .seconds(15 * 60), cap: .seconds(60 * 60))
    /// 429: too many pushes to one device.
    package var tooMany = RetryBackoff(first: .seconds(30), cap: .seconds(15 * 60))
    /// 24 h. A longer wait requested by a peer is shortened to this, because it would outlive most messages.
    package var longestAsked: Duration = .seconds(24 * 60 * 60)
    /// After 32 attempts that the peer received, the slice gives up until a person requests a retry. Without a limit, a push that always triggers a
    /// fault in the service would be repeated without end.
    package var maximumAttempts: Int16 = 32
    /// 5 s while this node does not know the credential: provisioning reaches every node within a second.
    package var unknownCredential: Duration = .seconds(5)
    /// 60 s while the app has no credential for the device's environment: an operator must act.
    package var noRoute: Duration = .seconds(60)
    /// 5 s between looks at an earlier message with the same text, whose outcome for the device is not known yet. If shorter, a slice is read often while a
    /// campaign is sent; if longer, the push that follows a failure is late.
    package var duplicate: Duration = .seconds(5)
    /// 60 s after the first look a target is pushed although the earlier message may still be: a missing push is worse than a second one.
    package var duplicateLongest: Duration = .seconds(60)
    /// 28 days for a message without expiry. Without a limit a dead credential would keep its slices forever.
    package var longestLife: Duration = .seconds(28 * 24 * 60 * 60)
    /// 60 s to 15 min between probes of a credential that the peer refused (docs/contracts/apns.md#13.6).
    package var refusedCredential = RetryBackoff(first: .seconds(60), cap: .seconds(15 * 60))
    /// 1 s to 60 s between probes of a credential whose peer cannot be reached.
    package var unreachableCredential = RetryBackoff(first: .seconds(1), cap: .seconds(60))
    /// For slices that wait for a stopped credential while another slice probes it. The recovery makes them due, so this wait only matters if no node
    /// reports the recovery. If shorter, a waiting campaign is read repeatedly; if longer, a campaign that only this node cannot deliver is idle.
    package var held = RetryBackoff(first: .seconds(60), cap: .seconds(5 * 60))
    /// Scales every wait here; 1, and smaller in tests.
    package var scale: Double = 1

    package init() {}
}
