/// The engine's limits. Each names the harm of another value; all are settings.
package struct EnginePolicy: Sendable {
    // MARK: Leases

    /// 30 s. Shorter, and a pause of PostgreSQL hands running slices to other nodes, which repeats pushes; longer, and a crashed node's slices lie idle.
    package var lease: Duration = .seconds(30)
    /// 16 leases of one slice in a row that ended without a word of their owner, and it is given up. Fewer, and a night of restarts stops deliveries;
    /// more, and a slice that brings nodes down takes them all.
    package var lapseLimit: Int16 = 16
    /// 200 ms between looks for due work. Shorter costs the database queries for nothing; longer is the delay of a retry or a recovery.
    package var pollInterval: Duration = .milliseconds(200)
    /// 5 s between heartbeats. A node that is silent for several is taken for dead, and between two our idea of the database's clock drifts.
    package var heartbeatInterval: Duration = .seconds(5)

    // MARK: Shares

    /// 64 slices at work on a node. Each holds up to 500 payloads (2 MB at APNs' limit): more is memory, not speed.
    package var slicesPerNode = 64
    /// 8 of them are kept for urgent and transactional work. Without them a campaign's last slice would delay a one-time code.
    package var slicesReserved = 8
    /// 12 for one tenant, urgent work apart. More, and a tenant whose vendor hangs takes the node.
    package var slicesPerTenant = 12
    /// 8 of them for one credential: 4,000 pushes under way. More only queue up in its connections, and the tenant's other credentials wait.
    package var slicesPerCredential = 8
    /// 1 s that a slice with written payloads waits for room at its credential, and then stays away at least. Less turns a slow credential into load on
    /// the database; more keeps the tenant's other credentials waiting.
    package var fullRetry: Duration = .seconds(1)
    /// 30 s that it stays away at most. It stays away for as long as no place became free: a vendor that hangs is asked less and less often, and
    /// a push ends after 20 s whatever its vendor does.
    package var fullLongest: Duration = .seconds(30)
    /// 100 ms between draws from the budgets of credentials that have a rate, while anybody waits for one. A draw reaches 250 ms ahead
    /// (`BudgetDraw.ahead`), so that a late one loses nothing; the more it reaches ahead, the more a node may hold that another one needs.
    package var drawInterval: Duration = .milliseconds(100)
    /// 5 s that a slice with written payloads waits for its share of a rate, then another has its turn: what is canceled or paused meanwhile is
    /// noticed then.
    package var meteredStay: Duration = .seconds(5)
    /// 2,000 targets per tenant and round, so that tenants come in turn. Fewer, and each claim brings little; more, and a small tenant waits longer behind
    /// large ones.
    package var targetsPerRound = 2000
    /// 4 slices per visit at a tenant. More, and one node takes a small campaign alone.
    package var claimLimit = 4
    /// 200 tenants per look at a lane: one page of the discovery statement.
    package var discoveryLimit = 200
    /// 256 handed-over leases wait in memory at most (one holds up to 500 target ids). Above it they are given back, for any node to claim.
    package var offerLimit = 256
    /// About 10,000 targets per page of an audience: twenty slices in one transaction of 10 to 30 ms. Fewer, and the commits cost more than the reading does.
    package var expansionPageSize = 10_000

    // MARK: Progress

    /// 250 ms between flushes of a slice: a crash repeats at most the pushes of this time.
    package var flushInterval: Duration = .milliseconds(250)
    /// 250 results at once at most before a flush: what a crash can repeat at high speed.
    package var flushCount = 250
    /// How long to wait before a refused or failed store call is tried again.
    package var storeBackoff = RetryBackoff(first: .milliseconds(100), cap: .seconds(5))

    // MARK: Ends

    /// 20 s from the request to stop until slices that still wait for answers are given up. It must end before the process manager loses patience.
    package var drainDeadline: Duration = .seconds(20)
    /// 3 s more to write down what was given up. Less leaves slices owned until their lease ends.
    package var drainGrace: Duration = .seconds(3)
    /// 20 s for the answer to one push (docs/contracts/apns.md#13.6). Shorter makes slow answers look like none, which repeats pushes.
    package var pushDeadline: Duration = .seconds(20)

    /// What is sent again, and when.
    package var retry = RetryPolicy()
    /// 1 s: a slice is due by the database's clock, hours begin by this node's copy of it. Put back for less, it would come again at once.
    package var timingSlack: Duration = .seconds(1)

    package init() {}

    /// Scales every wait before a retry; tests against a simulator make it small.
    package var retryScale: Double {
        get { retry.scale }
        set { retry.scale = newValue }
    }
}

/// What becomes of a push that left us and got no answer: Apple does not remove doubles by `apns-id`, only a collapse id hides a repeat (docs/contracts/apns.md#13.4).
package enum RetryUnknown: String, Sendable, Hashable, CaseIterable {
    /// Counted as sent, marked uncertain.
    case never
    /// Sent again when it carries a collapse id, else as `never`.
    case withCollapse
    /// Sent again: the device may ring twice.
    case always
}

/// When a push that was not settled is tried again.
package struct RetryPolicy: Sendable {
    /// What becomes of a push without answer.
    package var unknown: RetryUnknown = .withCollapse
    /// 3 resends at once of a push that was not processed. More turn a peer that refuses everything into a tight loop.
    package var immediateResends: Int16 = 3
    /// 2 s after these, while nothing was processed. No attempt is counted, so that an outage of the peer costs no delivery.
    package var unsent: Duration = .seconds(2)
    /// 5xx: Apple asks for at least 15 minutes (docs/contracts/apns.md#9.2).
    package var service = RetryBackoff(first: .seconds(15 * 60), cap: .seconds(60 * 60))
    /// 429: too many pushes to one device.
    package var tooMany = RetryBackoff(first: .seconds(30), cap: .seconds(15 * 60))
    /// 24 h: a peer that names a longer wait is not believed, it would outlive most messages.
    package var longestAsked: Duration = .seconds(24 * 60 * 60)
    /// 32 tries that the peer saw, then the slice gives up until somebody asks for it again. More, and a push that always meets a fault inside the
    /// service is tried for ever.
    package var maximumAttempts: Int16 = 32
    /// 5 s while this node does not know the credential: provisioning reaches every node within a second.
    package var unknownCredential: Duration = .seconds(5)
    /// 60 s while the app has no credential for the device's environment: an operator has to act.
    package var noRoute: Duration = .seconds(60)
    /// 30 s while the message is paused, or as long as its store parks it.
    package var paused: Duration = .seconds(30)
    /// 28 days for a message without expiry. Without an end a dead credential would keep its slices for ever.
    package var longestLife: Duration = .seconds(28 * 24 * 60 * 60)
    /// A credential that the peer refused (docs/contracts/apns.md#13.6).
    package var refusedCredential = RetryBackoff(first: .seconds(60), cap: .seconds(15 * 60))
    /// A credential whose peer cannot be reached.
    package var unreachableCredential = RetryBackoff(first: .seconds(1), cap: .seconds(60))
    /// What waits for a stopped credential while another slice probes it: it is told of the recovery, so this is only for when nobody is left to
    /// tell. Shorter, and a campaign that waits is read again and again; longer, and one that only this node cannot deliver lies idle.
    package var held = RetryBackoff(first: .seconds(60), cap: .seconds(5 * 60))
    /// 1, smaller in tests. Scales every wait here.
    package var scale: Double = 1

    package init() {}
}
