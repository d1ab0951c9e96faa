package import Model
package import PostgresClient
import Store

/// Maintains the store. Any node may do it, and one node at a time does.
package struct PostgresMaintenance: Sendable {
    private let engine: PostgresPool
    private let node: NodeID

    /// Few, because every statement that reads the whole log opens each partition.
    private static let eventDaysAhead: Int32 = 3

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
            try await keepEventPartitions(tenants.map(\.policy) + (tenants.isEmpty ? [policy] : []), now, &report)
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

    /// Creates the days of the event log ahead, and drops a day when no tenant keeps it any longer.
    private func keepEventPartitions(
        _ policies: [RetentionPolicy],
        _ now: Timestamp,
        _ report: inout MaintenanceReport
    ) async throws(PostgresError) {
        report.eventDaysMade = try await count(
            MaintenanceSQL.makeEventPartitions(.int32(now.day), .int32(Self.eventDaysAhead + 1))
        )
        let days = policies.map { Self.eventDays($0, now) }
        guard let kept = days.map(\.kept).min(), let pending = days.map(\.pending).min() else { return }
        report.eventDaysDropped = try await count(
            MaintenanceSQL.dropEventPartitions(.int32(kept), .int32(pending))
        )
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
        report.eventsRemoved += try await eventsDropped(id, policy, now)
        _ = try await swept(50_000, MaintenanceSQL.dropPositions(id))
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

    /// Removes events of days whose partitions other tenants still need. Returns the number of events.
    private func eventsDropped(
        _ tenant: PostgresValue,
        _ policy: RetentionPolicy,
        _ now: Timestamp
    ) async throws(PostgresError) -> Int {
        let days = Self.eventDays(policy, now)
        var sum = 0
        for _ in 0..<Self.stepsPerRound {
            let statement = MaintenanceSQL.dropEvents(tenant, .int32(days.kept), .int32(days.pending))
            let row = try await engine.run(statement, tenant: nil).only()
            sum += try row.int("events")
            if try row.int("count") < 1000 { break }
        }
        return sum
    }

    /// The first day whose events are kept, and the first day whose events are kept until every webhook has received them.
    private static func eventDays(_ policy: RetentionPolicy, _ now: Timestamp) -> (kept: Int32, pending: Int32) {
        (back(policy.events, from: now).day, back(max(policy.events, policy.untoldEvents), from: now).day)
    }

    /// Smaller steps than for other rows, because each identity is counted and writes an event.
    private func ended(_ tenant: PostgresValue) async throws(PostgresError) -> Int {
        let limit = 100
        var sum = 0
        for _ in 0..<Self.stepsPerRound * 10 {
            let statement = MaintenanceSQL.endIdentities(tenant, .int32(Int32(limit)))
            let transaction = Transaction(tenant: nil, [statement], flushes: true)
            let count = try await engine.run(transaction).result(0).only().int("count")
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
