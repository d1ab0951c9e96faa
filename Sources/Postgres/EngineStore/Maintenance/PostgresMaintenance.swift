package import Model
package import PostgresClient
import Store

/// Maintains the store. Any node may do it, and one node at a time does.
package struct PostgresMaintenance: Sendable {
    private let engine: PostgresPool
    private let node: NodeID

    /// Three minutes, which is longer than a round, so that two nodes do not alternate within one round.
    private static let lease = Duration.seconds(180)

    /// - Parameters:
    ///   - engine: the pool of `gateway_engine`.
    ///   - node: the node that does the maintenance.
    package init(engine: PostgresPool, node: NodeID) {
        self.engine = engine
        self.node = node
    }

    /// Runs one round: creates partitions ahead and deletes expired rows in limited steps. Intended to run about every minute; safe to repeat.
    ///
    /// - Throws: `StoreError`.
    package func run(_ policy: RetentionPolicy = RetentionPolicy()) async throws(StoreError) -> MaintenanceReport {
        try await asStore { () throws(PostgresError) in
            var report = MaintenanceReport()
            guard let now = try await lead() else { return report }
            report.isLeader = true
            report.partitionsMade = try await makePartitions(policy, now)
            let tenants = try await tenants(policy)
            // A partition of a week is dropped when no tenant keeps it any longer.
            let longest = tenants.map(\.policy.deliveries).max() ?? policy.deliveries
            report.partitionsDropped = try await count(
                MaintenanceSQL.dropPartitions(.int32(Self.back(longest, from: now).day))
            )
            report.nodesSwept = try await changed(MaintenanceSQL.sweepNodes(.interval(policy.deadNode)))
            for tenant in tenants { try await sweep(tenant, longest, now, &report) }
            return report
        }
    }

    /// Updates the planner's statistics of devices soon after many have registered. Autovacuum does so a minute later, and until then whole apps are scanned.
    ///
    /// - Throws: `StoreError`.
    package func analyzeDevices() async throws(StoreError) {
        try await asStore { () throws(PostgresError) in
            _ = try await engine.run(MaintenanceSQL.analyzeDevices(), tenant: nil)
        }
    }

    /// Runs ANALYZE on tables that have grown tenfold since the last one. Any node may call it at any time. Returns the number of tables.
    ///
    /// - Throws: `StoreError`.
    package func analyzeGrown() async throws(StoreError) -> Int {
        try await asStore { () throws(PostgresError) in try await count(MaintenanceSQL.analyzeGrown()) }
    }

    /// Returns the database's time if this node holds the maintenance lease.
    private func lead() async throws(PostgresError) -> Timestamp? {
        let statement = MaintenanceSQL.lead(.text("maintenance"), .id(node), .interval(Self.lease))
        return try await engine.run(statement, tenant: nil).first?.time("now")
    }

    private func makePartitions(_ policy: RetentionPolicy, _ now: Timestamp) async throws(PostgresError) -> Int {
        // Starts with the preceding week, which contains late deliveries of yesterday's messages.
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

    /// Ten statements of each kind per tenant and round: a backlog of one tenant must not delay the others or exceed the lease.
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

    /// Repeats a limited statement while it reaches its limit, each time in a separate transaction, because a long one holds back vacuum.
    private func swept(_ limit: Int, _ statement: Statement) async throws(PostgresError) -> Int {
        var sum = 0
        for _ in 0..<Self.stepsPerRound {
            let count = try await changed(statement)
            sum += count
            if count < limit { break }
        }
        return sum
    }

    /// Smaller steps than for other rows, because each identity is counted and writes an event.
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
