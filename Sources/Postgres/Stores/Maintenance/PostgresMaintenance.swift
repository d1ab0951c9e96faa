import FoundationEssentials
package import Model

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
            report.partitionsDropped = try await count(
                MaintenanceSQL.dropPartitions(.int32(Self.back(policy.deliveries, from: now).day))
            )
            report.nodesSwept = try await changed(MaintenanceSQL.sweepNodes(.interval(policy.deadNode)))
            try await sweepTenants(policy, now, &report)
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

    private func sweepTenants(
        _ policy: RetentionPolicy,
        _ now: Timestamp,
        _ report: inout MaintenanceReport
    ) async throws(PostgresError) {
        let tenants: [TenantID] = try await engine.run(MaintenanceSQL.tenants(), tenant: nil)
            .rows { (row) throws(PostgresError) in try row.id("tenant_id") }
        let oldest = Self.firstMessage(at: Self.back(policy.messages, from: now))
        for tenant in tenants {
            let id = PostgresValue.id(tenant)
            report.messagesRemoved += try await changed(MaintenanceSQL.dropMessages(id, .id(oldest)))
            _ = try await changed(MaintenanceSQL.dropMedia(id, .interval(policy.messages)))
            report.eventsRemoved += try await dropEvents(of: tenant, policy)
            report.keysExpired += try await changed(MaintenanceSQL.dropKeys(id, .interval(policy.idempotency)))
            _ = try await changed(MaintenanceSQL.dropVerifications(id))
        }
    }

    /// Steps of 10,000 until nothing is old: a long transaction holds back vacuum.
    private func dropEvents(of tenant: TenantID, _ policy: RetentionPolicy) async throws(PostgresError) -> Int {
        let statement = MaintenanceSQL.dropEvents(
            .id(tenant),
            .interval(policy.events),
            .interval(max(policy.events, policy.untoldEvents))
        )
        var removed = 0
        // 100 steps, a million events: the lease of the round must not run out on one tenant.
        for _ in 0..<100 {
            let count = try await changed(statement)
            removed += count
            if count < 10_000 { break }
        }
        return removed
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

    /// The least UUIDv7 of a moment: message ids are in the order of their time.
    private static func firstMessage(at time: Timestamp) -> MessageID? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let milliseconds = UInt64(clamping: time.milliseconds)
        for index in 0..<6 { bytes[index] = UInt8(truncatingIfNeeded: milliseconds >> UInt64(8 * (5 - index))) }
        bytes[6] = 0x70
        bytes[8] = 0x80
        return UUID(bytes: bytes).map { MessageID($0) }
    }
}
