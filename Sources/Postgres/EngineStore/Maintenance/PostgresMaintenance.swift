package import Model
package import PostgresClient
import Store

/// Upkeep of the store: one node at a time does it, any may.
package struct PostgresMaintenance: Sendable {
    private let engine: PostgresPool
    private let node: NodeID

    /// Three minutes: longer than a round, so that two nodes do not take turns within one.
    private static let lease = Duration.seconds(180)

    /// - Parameters:
    ///   - engine: the pool of `gateway_engine`.
    ///   - node: who does it.
    package init(engine: PostgresPool, node: NodeID) {
        self.engine = engine
        self.node = node
    }

    /// One round: partitions ahead, what is past its time removed in bounded steps. Meant every minute or so; safe to repeat.
    ///
    /// - Throws: `StoreError`.
    package func run(_ policy: RetentionPolicy = RetentionPolicy()) async throws(StoreError) -> MaintenanceReport {
        try await asStore { () throws(PostgresError) in
            var report = MaintenanceReport()
            guard let now = try await lead() else { return report }
            report.isLeader = true
            report.partitionsMade = try await makePartitions(policy, now)
            let tenants = try await tenants(policy)
            // A week goes as a whole when nobody keeps it any more.
            let longest = tenants.map(\.policy.deliveries).max() ?? policy.deliveries
            report.partitionsDropped = try await count(
                MaintenanceSQL.dropPartitions(.int32(Self.back(longest, from: now).day))
            )
            report.nodesSwept = try await changed(MaintenanceSQL.sweepNodes(.interval(policy.deadNode)))
            for tenant in tenants { try await sweep(tenant, longest, now, &report) }
            return report
        }
    }

    /// Tells the planner how devices are spread, as soon as many have come: by itself it looks a minute later, and reads whole apps until then.
    ///
    /// - Throws: `StoreError`.
    package func analyzeDevices() async throws(StoreError) {
        try await asStore { () throws(PostgresError) in
            _ = try await engine.run(MaintenanceSQL.analyzeDevices(), tenant: nil)
        }
    }

    /// Has the planner look at tables that have grown tenfold since it did; any node may ask at any time. Returns how many there were.
    ///
    /// - Throws: `StoreError`.
    package func analyzeGrown() async throws(StoreError) -> Int {
        try await asStore { () throws(PostgresError) in try await count(MaintenanceSQL.analyzeGrown()) }
    }

    /// The database's time, when this node holds the singleton.
    private func lead() async throws(PostgresError) -> Timestamp? {
        let statement = MaintenanceSQL.lead(.text("maintenance"), .id(node), .interval(Self.lease))
        return try await engine.run(statement, tenant: nil).first?.time("now")
    }

    private func makePartitions(_ policy: RetentionPolicy, _ now: Timestamp) async throws(PostgresError) -> Int {
        // From the week before: late deliveries of yesterday's messages belong to it.
        let first = max(now.day, 7) - 7
        let weeks = Int32(clamping: max(0, policy.weeksAhead) + 2)
        return try await count(MaintenanceSQL.makePartitions(.int32(first), .int32(weeks)))
    }

    private struct Tenant: Sendable {
        var id: TenantID
        var policy: RetentionPolicy
    }

    private func tenants(_ policy: RetentionPolicy) async throws(PostgresError) -> [Tenant] {
        try await engine.run(MaintenanceSQL.tenants(), tenant: nil).rows { (row) throws(PostgresError) in
            let own = TenantRetention(json: try row.object("retention"))
            return Tenant(id: try row.id("tenant_id"), policy: policy.overlaid(by: own))
        }
    }

    /// Ten statements of each kind per tenant and round: one tenant's backlog must not keep the others, or the lease, waiting.
    private static let stepsPerRound = 10

    private func sweep(
        _ tenant: Tenant,
        _ longest: Duration,
        _ now: Timestamp,
        _ report: inout MaintenanceReport
    ) async throws(PostgresError) {
        let (id, policy) = (PostgresValue.id(tenant.id), tenant.policy)
        let oldest = MessageID.first(at: Self.back(policy.messages, from: now))
        report.messagesRemoved += try await swept(
            1000,
            MaintenanceSQL.dropMessages(id, .id(oldest), .interval(policy.messages))
        )
        _ = try await changed(MaintenanceSQL.dropMedia(id, .interval(policy.messages)))
        let untold = PostgresValue.interval(max(policy.events, policy.untoldEvents))
        report.eventsRemoved += try await swept(
            10_000,
            MaintenanceSQL.dropEvents(id, .interval(policy.events), untold)
        )
        report.keysExpired += try await swept(10_000, MaintenanceSQL.dropKeys(id, .interval(policy.idempotency)))
        if policy.deliveries < longest {
            let day = Self.back(policy.deliveries, from: now).day
            report.deliveriesRemoved += try await swept(10_000, MaintenanceSQL.dropDeliveries(id, .int32(day)))
        }
        _ = try await swept(10_000, MaintenanceSQL.dropInbox(id, .int32(Self.back(policy.deliveries, from: now).day)))
        report.actsRemoved += try await swept(10_000, MaintenanceSQL.dropActs(id, .interval(policy.acts)))
        _ = try await swept(10_000, MaintenanceSQL.dropTallies(id, .interval(policy.tallies)))
        report.auditRemoved += try await count(MaintenanceSQL.dropAudit(id, .interval(policy.audit)))
        _ = try await changed(MaintenanceSQL.dropVerifications(id))
        _ = try await changed(MaintenanceSQL.dropActivityTokens(id))
        report.identitiesEnded += try await ended(id)
        report.capturesRemoved += try await changed(CaptureSQL.drop(id, .interval(policy.captures)))
    }

    /// Repeats a bounded statement while it finds as much as it may take, each in a transaction of its own: a long one holds back vacuum.
    private func swept(_ limit: Int, _ statement: Statement) async throws(PostgresError) -> Int {
        var sum = 0
        for _ in 0..<Self.stepsPerRound {
            let count = try await changed(statement)
            sum += count
            if count < limit { break }
        }
        return sum
    }

    /// Fewer at once than of what nobody else has in hand: each is counted and told of.
    private func ended(_ tenant: PostgresValue) async throws(PostgresError) -> Int {
        let limit = 100
        var sum = 0
        for _ in 0..<Self.stepsPerRound * 10 {
            let count = try await count(MaintenanceSQL.endIdentities(tenant, .int32(Int32(limit))))
            sum += count
            if count < limit { break }
        }
        return sum
    }

    private func count(_ statement: Statement) async throws(PostgresError) -> Int {
        try await engine.run(statement, tenant: nil).only().int("count")
    }

    private func changed(_ statement: Statement) async throws(PostgresError) -> Int {
        try await engine.run(statement, tenant: nil).affectedRows
    }

    private static func back(_ duration: Duration, from now: Timestamp) -> Timestamp {
        Timestamp(milliseconds: max(0, now.milliseconds - max(0, duration.milliseconds)))
    }
}
