import DatabaseSupport
import Foundation
import NIOConcurrencyHelpers
import Store
import Testing

@testable import DatabaseSchema
@testable import PostgresClient
@testable import Store

/// Short writes that share one flush: when each is sent, and which result each gets.
@Suite struct GatheringTests {
    private let start = ContinuousClock.now
    private let limits = GatherLimits(
        eagerGroups: 1,
        maximumGroups: 2,
        window: .milliseconds(2),
        sharingCalls: 3,
        callsPerGroup: 3,
        maximumWaiters: 4
    )

    // MARK: The machine

    @Test func aSingleCallDoesNotWait() {
        var machine = GatherMachine<Int>(limits: limits)
        let action = machine.arrived(1, now: start)
        #expect(action?.groups == [[1]] && action?.wakesAt == nil)
    }

    @Test func laterCallsWaitUntilAGroupHasReturned() {
        var machine = GatherMachine<Int>(limits: limits)
        _ = machine.arrived(1, now: start)
        let second = machine.arrived(2, now: start)
        #expect(second?.groups == [] && second?.wakesAt == start + .milliseconds(2))
        // One alarm is enough.
        #expect(machine.arrived(3, now: start)?.wakesAt == nil)
        #expect(machine.landed(now: start).groups == [[2, 3]])
        #expect(machine.underWay == 1)
    }

    @Test func waitingCallsAreSentAfterTheWindow() {
        var machine = GatherMachine<Int>(limits: limits)
        _ = machine.arrived(1, now: start)
        _ = machine.arrived(2, now: start)
        _ = machine.arrived(3, now: start + .milliseconds(1))
        #expect(machine.ticked(now: start + .milliseconds(2)).groups == [[2, 3]])
        // The maximum number of groups is in progress, so the next call waits for one of them.
        let action = machine.arrived(4, now: start + .milliseconds(3))
        #expect(action?.groups == [] && action?.wakesAt == nil)
        #expect(machine.ticked(now: start + .milliseconds(9)).groups == [])
        #expect(machine.landed(now: start + .milliseconds(9)).groups == [[4]])
    }

    @Test func aFullGroupIsSentAtOnce() {
        var machine = GatherMachine<Int>(limits: limits)
        _ = machine.arrived(1, now: start)
        _ = machine.arrived(2, now: start)
        _ = machine.arrived(3, now: start)
        #expect(machine.arrived(4, now: start)?.groups == [[2, 3, 4]])
    }

    @Test func aGroupLargeEnoughForAFlushIsSentAtOnce() {
        var limits = limits
        limits.sharingCalls = 2
        var machine = GatherMachine<Int>(limits: limits)
        for call in 1...2 { _ = machine.arrived(call, now: start) }
        #expect(machine.arrived(3, now: start)?.groups == [[2, 3]])
        // Every session has a group, so further calls wait and are sent together.
        for call in 4...5 { #expect(machine.arrived(call, now: start)?.groups == []) }
        #expect(machine.arrived(6, now: start)?.groups == [])
        #expect(machine.landed(now: start).groups == [[4, 5, 6]])
    }

    @Test func tooManyAreShed() {
        var machine = GatherMachine<Int>(limits: limits)
        for call in 1...8 { #expect(machine.arrived(call, now: start) != nil) }
        // 1 and 2–4 are in progress, 5–8 wait.
        #expect(machine.arrived(9, now: start) == nil)
        #expect(machine.landed(now: start).groups == [[5, 6, 7]])
        #expect(machine.arrived(9, now: start) != nil)
    }

    // MARK: The server

    private func insert(_ n: Int) -> Statement {
        Statement("INSERT INTO gateway.entry VALUES ($1) RETURNING pg_current_wal_insert_lsn()::text AS at", [.int(n)])
    }

    private func makeTable(_ database: TestDatabase) async throws -> PostgresConnection {
        let admin = try await database.admin()
        try await admin.script(
            """
            SET ROLE gateway_owner;
            CREATE TABLE gateway.entry (n int PRIMARY KEY);
            GRANT SELECT, INSERT ON gateway.entry TO gateway_call;
            RESET ROLE;
            """
        )
        return admin
    }

    /// Each call gets its own result and not the failures of the others, and its data is on disk when the answer
    /// arrives. The server would flush a commit that does not wait only 200 ms later.
    @Test func eachGetsItsOwnResultAndIsOnDisk() async throws {
        let database = try await TestCluster.database(migrated: false)
        let admin = try await makeTable(database)
        let pool = database.pool(.call, limits: .patient(maximumConnections: 4))
        _ = try await pool.run(gathered: Transaction(tenant: "a", [insert(0)]))
        let failed = try await withThrowingTaskGroup(of: Bool.self) { group in
            for n in 1...120 {
                group.addTask {
                    // Every tenth row exists already.
                    let statements = [insert(n % 10 == 0 ? 0 : n)]
                    do throws(PostgresError) {
                        let row = try await pool.run(gathered: Transaction(tenant: "a", statements)).result(0).only()
                        let flushed = Statement(
                            "SELECT pg_current_wal_flush_lsn() > $1::pg_lsn AS flushed",
                            [.text(try row.text("at"))]
                        )
                        #expect(
                            try await admin.run(Transaction(tenant: nil, [flushed])).result(0).only().bool("flushed")
                        )
                        return false
                    } catch {
                        #expect(error.code == .uniqueViolation && !error.isIndeterminate)
                        return true
                    }
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(failed == 12)
        let count = Statement("SELECT count(*) AS n FROM gateway.entry")
        #expect(try await pool.run(count, tenant: "a").only().int("n") == 109)
        #expect(pool.statistics.openedCount <= 4)
    }

    /// A call that only finds what another call wrote bases its answer on it, so it waits for the other's flush.
    @Test func aReadWaitsForTheFlushOfTheRowsItRead() async throws {
        let database = try await TestCluster.database(migrated: false)
        let admin = try await makeTable(database)
        let pool = database.pool(.call, limits: .patient(maximumConnections: 2))
        for gathers in [true, false] {
            let n = gathers ? 1 : 2
            // A writer that has committed without waiting for the disk.
            let lazy = try await admin.query(
                """
                WITH s AS (SELECT set_config('synchronous_commit', 'off', true))
                INSERT INTO gateway.entry SELECT \(n) FROM s RETURNING pg_current_wal_insert_lsn()::text AS at
                """
            )
            let at = try lazy.only().text("at")
            let look = Statement("SELECT n FROM gateway.entry WHERE n = $1", [.int(n)])
            let transaction = Transaction(tenant: "a", [look], flushes: true)
            let found = gathers ? try await pool.run(gathered: transaction) : try await pool.run(transaction)
            #expect(try found.result(0).only().int("n") == n)
            let flushed = try await admin.query("SELECT pg_current_wal_flush_lsn() > '\(at)'::pg_lsn AS flushed")
            #expect(try flushed.only().bool("flushed"))
        }
    }

    /// Two calls lock the same two rows in opposite orders. The server ends one of them, which is then repeated on
    /// its own.
    @Test func aCallRolledBackBecauseOfOthersIsRepeated() async throws {
        let database = try await TestCluster.database(migrated: false)
        _ = try await makeTable(database)
        let admin = try await database.admin()
        try await admin.script(
            "GRANT UPDATE ON gateway.entry TO gateway_call; INSERT INTO gateway.entry VALUES (1), (2)"
        )
        let pool = database.pool(.call, limits: .patient(maximumConnections: 4))
        func lock(_ first: Int, _ second: Int) -> Transaction {
            let sql = "SELECT n FROM gateway.entry WHERE n = $1 FOR UPDATE"
            return Transaction(
                tenant: "a",
                [
                    Statement(sql, [.int(first)]), Statement("SELECT pg_sleep(0.1)::text"),
                    Statement(sql, [.int(second)]),
                ]
            )
        }
        async let one = pool.run(gathered: lock(1, 2))
        async let two = pool.run(gathered: lock(2, 1))
        #expect(try await one.count == 3)
        #expect(try await two.count == 3)
    }

    /// A call that must be on disk commits without waiting for the disk and flushes afterwards, so that it does not hold its locks while it waits.
    @Test func aCallHoldsNoLocksWhileItWaitsForTheDisk() async throws {
        let database = try await TestCluster.database(migrated: false)
        let admin = try await makeTable(database)
        let setting = Statement("SELECT current_setting('synchronous_commit') AS s")
        var configuration = database.configuration(.call)
        configuration.sharesFlush = false
        let separate = PostgresPool(configuration, logger: TestCluster.logger)
        for (pool, expected) in [(database.pool(.call), "off"), (separate, "on")] {
            let n = expected == "off" ? 1 : 3
            let plain = try await pool.run(Transaction(tenant: "a", [setting, insert(n)], flushes: true))
            #expect(try plain.result(0).only().text("s") == expected)
            let stepwise = Transaction(tenant: "a", [setting], flushes: true) { _ in Step([setting, insert(n + 1)]) }
            let steps = try await pool.run(stepwise)
            #expect(try steps.result(0).only().text("s") == expected && steps.result(1).only().text("s") == expected)
            for row in [try plain.result(1).only(), try steps.result(2).only()] {
                let flushed = try await admin.query(
                    "SELECT pg_current_wal_flush_lsn() > $1::pg_lsn AS flushed",
                    [.text(try row.text("at"))]
                )
                #expect(try flushed.only().bool("flushed"))
            }
            let after = try await pool.run(Transaction(tenant: "a", [setting])).result(0).only().text("s")
            #expect(after == "on")
        }
        await separate.close()
    }

    /// If the rows are on another server, each call that cannot be merged waits for its own commit.
    @Test func aPoolThatDoesNotShareRunsEachByItself() async throws {
        let database = try await TestCluster.database(migrated: false)
        _ = try await makeTable(database)
        var configuration = database.configuration(.call)
        configuration.sharesFlush = false
        let pool = PostgresPool(configuration, logger: TestCluster.logger)
        let setting = Statement("SELECT current_setting('synchronous_commit') AS s")
        #expect(try await pool.run(gathered: Transaction(tenant: "a", [setting])).result(0).only().text("s") == "on")
        let shared = database.pool(.call)
        #expect(try await shared.run(gathered: Transaction(tenant: "a", [setting])).result(0).only().text("s") == "off")
        await pool.close()
    }

    /// Calls of one kind become one statement there too. It commits like any other, because each server flushes its own log.
    @Test func aPoolThatDoesNotShareMergesCallsOfOneKind() async throws {
        let database = try await TestCluster.database(migrated: false)
        let admin = try await makeTable(database)
        var configuration = database.configuration(.call)
        configuration.sharesFlush = false
        let pool = PostgresPool(configuration, logger: TestCluster.logger)
        try await admin.script("SELECT pg_advisory_lock(41)")
        func blocking() -> Transaction {
            let wait = Statement("SELECT 'wait' AS name, pg_advisory_xact_lock(41)::text AS outcome")
            var transaction = Transaction(tenant: "a", [wait])
            transaction.batches = [StatementBatch(shared: wait, row: [])]
            return transaction
        }
        func call(_ name: String) -> Transaction {
            let columns = "'done' AS outcome, current_setting('synchronous_commit') AS s"
            var transaction = Transaction(
                tenant: "a",
                [Statement("SELECT $1::text AS name, \(columns), 1 AS merged", [.text(name)])]
            )
            let many =
                "SELECT x.u AS name, \(columns), cardinality($1) AS merged FROM unnest($1::text[]) WITH ORDINALITY AS x(u, o) ORDER BY x.o"
            transaction.batches = [StatementBatch(shared: Statement(many), row: [.text(name)])]
            return transaction
        }
        // Two groups are the maximum.
        async let first = pool.run(gathered: blocking())
        try await eventually("the first group is under way") {
            pool.writes.machine.withLockedValue { $0.underWay } == 1
        }
        async let second = pool.run(gathered: blocking())
        try await eventually("the second group is under way") {
            pool.writes.machine.withLockedValue { $0.underWay } == 2
        }
        async let one = pool.run(gathered: call("a"))
        async let two = pool.run(gathered: call("b"))
        async let three = pool.run(gathered: call("c"))
        try await eventually("three calls wait") { pool.writes.machine.withLockedValue { $0.waitingCount } == 3 }
        try await admin.script("SELECT pg_advisory_unlock(41)")
        let results = try await [one, two, three]
        for (name, result) in zip(["a", "b", "c"], results) {
            let row = try result.result(0).only()
            #expect(try row.text("name") == name)
            #expect(try row.int("merged") == 3)
            #expect(try row.text("s") == "on")
        }
        _ = try await (first, second)
        await pool.close()
    }

    @Test func aClosedPoolAnswersWaitingCalls() async throws {
        let database = try await TestCluster.database(migrated: false)
        let pool = database.pool(.call)
        await pool.close()
        await #expect { try await pool.run(gathered: Transaction(tenant: "a", [Statement("SELECT 1")])) } throws: {
            ($0 as? PostgresError)?.code == .closed
        }
    }
}
