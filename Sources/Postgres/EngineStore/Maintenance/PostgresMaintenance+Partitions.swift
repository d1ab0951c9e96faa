import Model
import PostgresClient
import Store

extension PostgresMaintenance {
    /// Three tries a second apart: a transaction that holds a lock for that long holds it for longer.
    private static let tries = 3
    /// 250 pages have about 10,000 rows, which one transaction copies in 100 ms.
    private static let stagedPages: Int32 = 250
    /// The rows of one week that `make_delivery_partitions` moves at most.
    private static let movedRows = 5000
    /// Ten minutes: the files of a large week take seconds per gigabyte to remove, and nothing waits for them.
    private static let dropTimeout = Duration.seconds(600)
    /// Weeks after the current one for which rows in the default partition create a partition: a year.
    private static let furthestWeek: Int32 = 52

    /// Creates the partitions from the preceding one on, which contains late deliveries of yesterday's messages, and those of rows in the default partition.
    func make(
        _ table: PartitionedTable,
        _ policy: RetentionPolicy,
        from kept: Int32,
        _ now: Timestamp,
        _ report: inout MaintenanceReport
    ) async {
        let current = now.day / table.days
        let last = current + Int32(clamping: max(0, min(policy[keyPath: table.ahead], Int(Self.furthestWeek))))
        var numbers = Set((max(current, 1) - 1)...last)
        var large: [Int32] = []
        for found in await defaultWeeks(of: table, &report) {
            guard found.week * table.days >= kept, found.week <= current + Self.furthestWeek else { continue }
            if found.rows > Self.movedRows { large.append(found.week) }
            numbers.insert(found.week)
        }
        for number in numbers.subtracting(large).sorted() {
            // One per transaction, so that the lock is held for milliseconds.
            let made = await change(.makePartitions, &report) { () throws(PostgresError) in
                try await count(table.make(number * table.days))
            }
            report.partitionsMade += made ?? 0
            // The next one would wait for the same transaction.
            if report.changesWaiting > 0 { return }
        }
        if !large.isEmpty { await move(large.sorted(), &report) }
    }

    /// Notes for each tenant, before partitions are dropped, that only the days from `day` on are whole. Returns false if that failed: then no partition may
    /// be dropped, because a recount would treat its days as complete.
    func note(
        _ table: PartitionedTable,
        from day: Int32,
        _ tenants: [TenantID],
        _ report: inout MaintenanceReport
    ) async -> Bool {
        guard let note = table.note else { return true }
        let noted = await change(.dropPartitions, &report) { () throws(PostgresError) -> Int in
            guard try await count(MaintenanceSQL.expiredWeeks(.int32(day))) > 0 else { return 0 }
            for tenant in tenants { _ = try await engine.run(note(tenant, day), tenant: nil) }
            return tenants.count
        }
        return noted != nil
    }

    /// Repeats a statement that drops partitions until none is left.
    func drop(_ statement: Statement, _ report: inout MaintenanceReport) async {
        while !Task.isCancelled {
            let dropped = await change(.dropPartitions, &report) { () throws(PostgresError) in
                try await engine.run(statement, tenant: nil, timeout: Self.dropTimeout).only().int("count")
            }
            guard let dropped, dropped > 0 else { return }
            report.partitionsDropped += dropped
        }
    }

    private struct DefaultWeek: Sendable {
        var week: Int32
        var rows: Int
    }

    private func defaultWeeks(of table: PartitionedTable, _ report: inout MaintenanceReport) async -> [DefaultWeek] {
        guard let statement = table.defaultWeeks?() else { return [] }
        let found = await change(.makePartitions, &report) { () throws(PostgresError) in
            try await engine.run(statement, tenant: nil).rows { (row) throws(PostgresError) in
                DefaultWeek(week: Int32(clamping: try row.int("week")), rows: try row.int("rows"))
            }
        }
        return found ?? []
    }

    /// Runs a change that needs a table alone. Returns nil when it failed or when a long transaction prevents it.
    private func change<Value: Sendable>(
        _ step: MaintenanceStep,
        _ report: inout MaintenanceReport,
        _ body: () async throws(PostgresError) -> Value
    ) async -> Value? {
        for number in 1...Self.tries {
            do throws(PostgresError) {
                return try await body()
            } catch {
                guard error.code == .lockTimeout else {
                    report.failures.append(MaintenanceFailure(step, StoreError(error)))
                    return nil
                }
            }
            if number < Self.tries { try? await Task.sleep(for: .seconds(1)) }
        }
        report.changesWaiting += 1
        return nil
    }
}

// MARK: Large weeks

extension PostgresMaintenance {
    /// One pass over the default partition.
    private struct Pass: Sendable {
        var copied = 0
        /// Where the next pass begins.
        var horizon: Int64 = 0
    }

    /// Moves weeks with many rows out of the default partition: copies them in steps, then what was written meanwhile, and finally exchanges the tables.
    private func move(_ weeks: [Int32], _ report: inout MaintenanceReport) async {
        var horizon: Int64 = 0
        // Ten: rows that are written faster than they are copied stay until a later round.
        for _ in 0..<10 {
            guard let pass = await copy(weeks, since: horizon, &report) else { return }
            horizon = pass.horizon
            guard pass.copied <= Self.movedRows else { continue }
            let made = await change(.makePartitions, &report) { () throws(PostgresError) in
                try await count(MaintenanceSQL.attachStaged(.int32s(weeks), .int64(horizon)))
            }
            report.partitionsMade += made ?? 0
            return
        }
    }

    private func copy(_ weeks: [Int32], since horizon: Int64, _ report: inout MaintenanceReport) async -> Pass? {
        var pass = Pass()
        var page: Int32? = 0
        while let first = page {
            let row = await change(.makePartitions, &report) { () throws(PostgresError) in
                let row = try await engine.run(
                    MaintenanceSQL.stageRows(.int32s(weeks), .int64(horizon), .int32(first), .int32(Self.stagedPages)),
                    tenant: nil
                ).only()
                return (
                    next: try row.optionalInt("next_page"), copied: try row.int("copied"),
                    horizon: try row.int64("horizon")
                )
            }
            guard let row, !Task.isCancelled else { return nil }
            if first == 0 { pass.horizon = row.horizon }
            pass.copied += row.copied
            page = row.next.map { Int32(clamping: $0) }
        }
        return pass
    }
}
