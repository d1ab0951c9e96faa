import DatabaseSupport
import EmbeddedPostgres
import Foundation
import Testing

@testable import DatabaseSchema
@testable import EmbeddedPostgres
@testable import PostgresClient

/// The client's behavior under time limits, cancelled callers and server failures.
@Suite struct ClientFaultTests {
    private func database() async throws -> TestDatabase { try await TestCluster.database(migrated: false) }

    private let sleep = Statement("SELECT pg_sleep(30)")

    /// Waits until `sql` (one boolean column) returns true.
    private func until(
        _ admin: PostgresConnection,
        _ sql: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await eventually(sql, sourceLocation: sourceLocation) { try await admin.query(sql).only().bool(0) }
    }

    private let sleeps =
        "SELECT count(*) > 0 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%pg_sleep(30)%' AND state = 'active' AND pid <> pg_backend_pid()"
    private let sleepsNoMore =
        "SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%pg_sleep(30)%' AND state = 'active' AND pid <> pg_backend_pid()"

    private func code(_ body: () async throws -> some Any) async -> PostgresError.Code? {
        do { _ = try await body() } catch { return (error as? PostgresError)?.code }
        return nil
    }

    @Test func aStatementBeyondItsDeadlineEndsHereAndAtTheServer() async throws {
        let database = try await database()
        let pool = database.pool(.call)
        let start = ContinuousClock.now
        #expect(await code { try await pool.run(sleep, tenant: "a", timeout: .milliseconds(200)) } == .timeout)
        #expect(ContinuousClock.now - start < .seconds(20))
        try await until(try await database.admin(), sleepsNoMore)
        #expect(try await pool.run(Statement("SELECT 1 AS n"), tenant: "a").only().int("n") == 1)
    }

    @Test func aCancelledTaskCancelsItsStatementAtTheServer() async throws {
        let database = try await database()
        let admin = try await database.admin()
        let pool = database.pool(.call)
        let task = Task { await code { try await pool.run(sleep, tenant: "a") } }
        try await until(admin, sleeps)
        task.cancel()
        #expect(await task.value == .cancelled)
        try await until(admin, sleepsNoMore)
    }

    @Test func aTaskCancelledWhileItWaitsForASessionLeavesTheQueue() async throws {
        let database = try await database()
        let admin = try await database.admin()
        let pool = database.pool(.call, limits: .patient(maximumConnections: 1))
        let holder = Task { await code { try await pool.run(sleep, tenant: "a") } }
        try await until(admin, sleeps)
        let waiter = Task { await code { try await pool.run(sleep, tenant: "a") } }
        try await eventually("one call waits") { pool.statistics.waitingCount > 0 }
        waiter.cancel()
        #expect(await waiter.value == .cancelled)
        #expect(pool.statistics.waitingCount == 0)
        holder.cancel()
        #expect(await holder.value == .cancelled)
    }

    @Test func waitersBeyondTheBoundOrTheDeadlineAreRefused() async throws {
        let database = try await database()
        var limits = PoolLimits()
        limits.maximumConnections = 1
        limits.maximumWaiters = 2
        limits.waitTimeout = .seconds(2)
        let pool = database.pool(.call, limits: limits)
        let holder = Task { await code { try await pool.run(sleep, tenant: "a") } }
        try await until(try await database.admin(), sleeps)
        let waiters = (0..<2).map { _ in Task { await code { try await pool.run(sleep, tenant: "a") } } }
        try await eventually("two calls wait, or one is refused", every: .milliseconds(1)) {
            pool.statistics.waitingCount >= 2 || pool.statistics.shedCount > 0
        }
        #expect(await code { try await pool.run(sleep, tenant: "a") } == .overloaded)
        for waiter in waiters { #expect(await waiter.value == .overloaded) }
        #expect(pool.statistics.shedCount == 3)
        holder.cancel()
        _ = await holder.value
    }

    @Test func aSessionKilledInMidQueryIsAnErrorAndTheNextCallWorks() async throws {
        let database = try await database()
        let admin = try await database.admin()
        let pool = database.pool(.call, limits: .patient(maximumConnections: 1))
        let task = Task { await code { try await pool.run(sleep, tenant: "a") } }
        try await until(admin, sleeps)
        _ = try await admin.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        let seen = await task.value
        #expect(seen == .shuttingDown || seen == .connectionLost)
        #expect(try await pool.run(Statement("SELECT 1 AS n"), tenant: "a").only().int("n") == 1)
    }

    @Test func aSessionKilledWhileIdleIsReplacedWithoutAnError() async throws {
        let database = try await database()
        let admin = try await database.admin()
        let pool = database.pool(.call, limits: .patient(maximumConnections: 1))
        _ = try await pool.run(Statement("SELECT 1"), tenant: nil)
        _ = try await admin.query(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        #expect(try await pool.run(Statement("SELECT 1 AS n"), tenant: nil).only().int("n") == 1)
        #expect(pool.statistics.openedCount == 2)
    }

    @Test func anUnreachableServerAndAnUnknownRoleAreDifferentErrors() async throws {
        let cluster = try await TestCluster.cluster()
        func connect(_ string: String) async -> PostgresError.Code? {
            await code {
                try await PostgresConnection.connect(TestCluster.configuration(string), logger: TestCluster.logger)
            }
        }
        #expect(await connect("host=/nowhere user=x dbname=x") == .cannotConnect)
        #expect(await connect("not a connection string") == .cannotConnect)
        #expect(await connect("host=\(cluster.socketDirectory) user=stranger dbname=bare") == .authenticationFailed)
        #expect(
            await connect("host=\(cluster.socketDirectory) user=gateway_call dbname=absent") == .authenticationFailed
        )
    }

    @Test func connectingHasADeadline() async throws {
        // A socket that accepts connections (the kernel does) and never answers.
        let path = try await TestCluster.scratchPath("silent")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(server) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array("\(path)/.s.PGSQL.5432".utf8)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let bound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(server, $0, size) }
        }
        #expect(bound == 0 && listen(server, 4) == 0)
        var configuration = PostgresConfiguration("host=\(path) user=x dbname=x")
        configuration.connectTimeout = .milliseconds(200)
        let start = ContinuousClock.now
        #expect(
            await code { try await PostgresConnection.connect(configuration, logger: TestCluster.logger) } == .timeout
        )
        #expect(ContinuousClock.now - start < .seconds(20))
    }

    @Test func sessionSettingsReachTheServer() async throws {
        let pool = try await database().pool(.call)
        let row = try await pool.run(
            Statement(
                """
                SELECT current_setting('statement_timeout') AS s, current_setting('lock_timeout') AS l,
                       current_setting('idle_in_transaction_session_timeout') AS i,
                       current_setting('application_name') AS a,
                       current_setting('citus.propagate_set_commands') AS c, current_setting('TimeZone') AS z
                """
            ),
            tenant: nil
        ).only()
        #expect(try row.text("s") == "3min" && row.text("l") == "2min" && row.text("i") == "30s")
        #expect(try row.text("a") == "push-gateway" && row.text("c") == "local" && row.text("z") == "UTC")
    }

    @Test func anAdministratorCanConnectAsARoleAndIsBoundByIt() async throws {
        let database = try await database()
        var configuration = PostgresConfiguration(database.cluster.adminConnectionString(database: database.name))
        configuration.settings["role"] = GatewayRole.call.rawValue
        let pool = PostgresPool(configuration, logger: TestCluster.logger)
        let row = try await pool.run(Statement("SELECT current_user::text AS u, session_user::text AS s"), tenant: "a")
            .only()
        #expect(try row.text("u") == "gateway_call" && row.text("s") == "gateway_admin")
    }

    // MARK: LISTEN

    @Test func aListenerReconnectsAndReportsAPossibleGap() async throws {
        let database = try await database()
        let admin = try await database.admin()
        let listener = PostgresListener(
            database.configuration(.call),
            channels: ["work", "odd \"name"],
            logger: TestCluster.logger
        )
        var events = listener.events().makeAsyncIterator()
        #expect(await events.next() == .mayHaveMissed)
        _ = try await admin.query("SELECT pg_notify('work', 'p1')")
        #expect(await events.next() == .notification(channel: "work", payload: "p1"))
        _ = try await admin.query("SELECT pg_notify('odd \"name', '')")
        #expect(await events.next() == .notification(channel: "odd \"name", payload: ""))
        _ = try await admin.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        #expect(await events.next() == .mayHaveMissed)
        _ = try await admin.query("SELECT pg_notify('work', 'p2')")
        #expect(await events.next() == .notification(channel: "work", payload: "p2"))
        listener.stop()
        #expect(await events.next() == nil)
    }

    @Test func aStoppedListenerLeavesTheServer() async throws {
        let database = try await database()
        let admin = try await database.admin()
        let listener = PostgresListener(database.configuration(.call), channels: ["work"], logger: TestCluster.logger)
        let consumer = Task { for await _ in listener.events() {} }
        let others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        try await until(admin, "SELECT count(*) = 1 \(others)")
        consumer.cancel()
        await consumer.value
        try await until(admin, "SELECT count(*) = 0 \(others)")
    }
}
