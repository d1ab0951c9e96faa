package import Model
package import PostgresClient
import Store

/// Maintains the store. Any node may do it, and one node at a time does.
///
/// A step that fails is reported and does not stop the others (`MaintenanceReport.failures`).
package struct PostgresMaintenance: Sendable {
    let engine: PostgresPool
    private let node: NodeID

    /// Three minutes, which is longer than any statement, so that two nodes do not alternate within one round. A round renews it.
    private static let lease = Duration.seconds(180)
    private static let renewal = Duration.seconds(60)

    /// - Parameters:
    ///   - engine: the pool of `gateway_engine`.
    ///   - node: the node that does the maintenance.
    package init(engine: PostgresPool, node: NodeID) {
        self.engine = engine
        self.node = node
    }

    /// Runs both parts of a round. Safe to repeat.
    ///
    /// - Throws: `StoreError` when the round could not begin or lost its lease.
    package func run(
        _ policy: RetentionPolicy = RetentionPolicy(),
        within budget: Duration = .seconds(240)
    ) async throws(StoreError) -> MaintenanceReport {
        var report = try await changePartitions(policy)
        guard report.isLeader else { return report }
        try await asStore { () throws(PostgresError) in try await removeExpired(policy, within: budget, &report) }
        return report
    }

    /// Creates partitions ahead and drops those that no tenant keeps any longer. A change that would wait behind a long transaction is left for a later round
    /// (`changesWaiting`), because accepts and deliveries would wait too.
    ///
    /// - Throws: `StoreError` when the round could not begin.
    package func changePartitions(_ policy: RetentionPolicy = RetentionPolicy()) async throws(StoreError)
        -> MaintenanceReport
    {
        try await asStore { () throws(PostgresError) in
            var report = MaintenanceReport()
            guard let now = try await lead() else { return report }
            report.isLeader = true
            let tenants = try await tenants(policy)
            let policies = tenants.map(\.policy)
            for table in PartitionedTable.all {
                let day = Self.firstKeptDay(of: table, policies, policy, now)
                await make(table, policy, from: day, now, &report)
                guard await note(table, from: day, tenants.map(\.id), &report) else { continue }
                await drop(table.drop(day, policies, now), &report)
            }
            return report
        }
    }

    /// Deletes dead nodes and expired rows until nothing is left or the time is over.
    ///
    /// - Parameters:
    ///   - policy: the retention of tenants that have none of their own.
    ///   - budget: the time after which it stops. The next round continues.
    /// - Returns: what was removed.
    /// - Throws: `StoreError` when the round could not begin or lost its lease.
    package func removeExpired(
        _ policy: RetentionPolicy = RetentionPolicy(),
        within budget: Duration = .seconds(240)
    ) async throws(StoreError) -> MaintenanceReport {
        try await asStore { () throws(PostgresError) in
            var report = MaintenanceReport()
            try await removeExpired(policy, within: budget, &report)
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

    /// The first day that some tenant keeps, at the beginning of a partition.
    private static func firstKeptDay(
        of table: PartitionedTable,
        _ policies: [RetentionPolicy],
        _ policy: RetentionPolicy,
        _ now: Timestamp
    ) -> Int32 {
        let longest = policies.map { $0[keyPath: table.kept] }.max() ?? policy[keyPath: table.kept]
        return now.back(longest).day / table.days * table.days
    }

    func count(_ statement: Statement) async throws(PostgresError) -> Int {
        try await engine.run(statement, tenant: nil).only().int("count")
    }
}

// MARK: Expired rows

extension PostgresMaintenance {
    private func removeExpired(
        _ policy: RetentionPolicy,
        within budget: Duration,
        _ report: inout MaintenanceReport
    ) async throws(PostgresError) {
        let end = ContinuousClock.now + budget
        guard let now = try await lead() else { return }
        report.isLeader = true
        await attempt(.nodes, of: nil, &report) { () throws(PostgresError) in
            try await engine.run(MaintenanceSQL.sweepNodes(.interval(policy.deadNode)), tenant: nil).affectedRows
        }
        var open = try await sweeps(policy, now)
        var renewal = ContinuousClock.now + Self.renewal
        // Tenants take turns, so that the backlog of one does not delay the others.
        while !open.isEmpty {
            for index in open.indices {
                guard ContinuousClock.now < end, !Task.isCancelled else {
                    report.isComplete = false
                    return
                }
                if ContinuousClock.now >= renewal {
                    guard try await lead() != nil else { throw .abandoned("another node maintains") }
                    renewal = .now + Self.renewal
                }
                await advance(&open[index], &report)
            }
            open.removeAll { $0.sweeps.isEmpty }
        }
    }

    private func sweeps(_ policy: RetentionPolicy, _ now: Timestamp) async throws(PostgresError) -> [TenantSweep] {
        let tenants = try await tenants(policy)
        let longest = tenants.map(\.policy.deliveries).max() ?? policy.deliveries
        let first = Self.firstKeptDay(of: .deliveries, tenants.map(\.policy), policy, now)
        // An expired partition that a long transaction protects is dropped soon; deleting its rows one by one would be wasted.
        let isDropped = try await count(MaintenanceSQL.expiredWeeks(.int32(first))) == 0
        return tenants.map { tenant in
            // The expired days of the oldest week of the longest retention go with their partition.
            let day = tenant.policy.deliveries == longest ? first : now.back(tenant.policy.deliveries).day
            return TenantSweep(of: tenant.id, tenant.policy, deliveriesBefore: isDropped ? day : nil, now: now)
        }
    }

    /// One turn of a tenant: finishes the sweeps with few rows, up to the first statement that reaches its limit.
    private func advance(_ tenant: inout TenantSweep, _ report: inout MaintenanceReport) async {
        while let sweep = tenant.sweeps.first {
            let started = ContinuousClock.now
            var rows = 0
            await attempt(sweep.step, of: tenant.tenant, &report) { () throws(PostgresError) in
                let settings = MaintenanceSQL.sweepSettings.map { $0() }
                // Some sweeps write events: no commit may wait for the disk while it holds the lock of the event log.
                let notes = sweep.note.map { [$0] } ?? []
                let transaction = Transaction(tenant: nil, settings + [sweep.statement] + notes, flushes: true)
                let result = try await engine.run(transaction).result(settings.count)
                guard sweep.isFunction else {
                    rows = result.affectedRows
                    return rows
                }
                let row = try result.only()
                rows = try row.int("count")
                return try row.int(sweep.amount)
            }
            guard let limit = sweep.limit, rows >= limit else {
                tenant.sweeps.removeFirst()
                continue
            }
            // As long as the statement took: at most half of a core is used, and calls get the other.
            try? await Task.sleep(for: min(.now - started, .milliseconds(100)))
            return
        }
    }

    /// Runs one step and adds its number to the report, or its failure.
    private func attempt(
        _ step: MaintenanceStep,
        of tenant: TenantID?,
        _ report: inout MaintenanceReport,
        _ body: () async throws(PostgresError) -> Int
    ) async {
        do throws(PostgresError) {
            report[keyPath: step.count] += try await body()
        } catch {
            report.failures.append(MaintenanceFailure(step, of: tenant, StoreError(error)))
        }
    }
}
