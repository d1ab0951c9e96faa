import DatabaseSupport
import Foundation
import NIOConcurrencyHelpers
import Testing

@testable import DatabaseSchema
@testable import EmbeddedPostgres
@testable import PostgresClient

/// The embedded cluster, with real servers. Serialized, because each test starts its own servers.
@Suite(.serialized) struct EmbeddedClusterTests {
    private func start(_ directory: String, _ options: EmbeddedClusterOptions = .init()) async throws -> EmbeddedCluster
    {
        try await EmbeddedCluster.start(directory: directory, options: options, logger: TestCluster.logger)
    }

    private func connect(_ cluster: EmbeddedCluster) async throws -> PostgresConnection {
        try await PostgresConnection.connect(
            PostgresConfiguration(cluster.superuserConnectionString),
            logger: TestCluster.logger
        )
    }

    private func code(_ body: () async throws -> some Any) async -> EmbeddedClusterError.Code? {
        do { _ = try await body() } catch { return (error as? EmbeddedClusterError)?.code }
        return nil
    }

    /// I1: a 2xx answer means that the data is on disk.
    @Test func committedDataIsOnDiskAndNoPortIsOpen() async throws {
        let cluster = try await TestCluster.cluster()
        let server = try await PostgresConnection.connect(
            PostgresConfiguration(cluster.adminConnectionString(database: "template1")),
            logger: TestCluster.logger
        )
        for (name, value) in [
            ("fsync", "on"), ("full_page_writes", "on"), ("synchronous_commit", "on"), ("listen_addresses", ""),
            ("data_checksums", "on"), ("server_encoding", "UTF8"), ("log_min_error_statement", "panic"),
        ] {
            #expect(try await server.query("SELECT current_setting($1) AS v", [.text(name)]).only().text("v") == value)
        }
        // Texts compare by their bytes, and letters of every alphabet have cases.
        let locale = "SELECT datcollate || ' ' || datctype AS v FROM pg_database WHERE datname = current_database()"
        #expect(try await server.query(locale, []).only().text("v") == "C C.UTF-8")
        var status = stat()
        #expect(unsafe stat(cluster.socketDirectory, &status) == 0 && status.st_mode & 0o777 == 0o700)
    }

    @Test func dataSurvivesAStopAndAStart() async throws {
        let directory = try await TestCluster.scratchPath("restart")
        let first = try await start(directory)
        try await connect(first).script("CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)")
        try await first.stop()
        #expect(Postmaster.running(in: "\(directory)/data") == nil)
        let second = try await start(directory)
        #expect(try await connect(second).query("SELECT n FROM kept").only().int("n") == 7)
        try await second.stop()
    }

    @Test func aServerThatIsKilledIsStartedAgain() async throws {
        let directory = try await TestCluster.scratchPath("watched")
        let cluster = try await start(directory)
        try await connect(cluster).script("CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)")
        let watch = Task { await cluster.keepRunning(every: .milliseconds(20)) { _ in } }
        let first = cluster.processID
        kill(first, SIGKILL)
        try await eventually("another server runs") { cluster.processID != first }
        #expect(try await connect(cluster).query("SELECT n FROM kept").only().int("n") == 7)
        watch.cancel()
        await watch.value
        try await cluster.stop()
    }

    @Test func aNewClusterGetsTheTablesAndThenWaitsForTheDisk() async throws {
        let directory = try await TestCluster.scratchPath("new")
        let cluster = try await EmbeddedCluster.start(
            directory: directory,
            migratesNew: true,
            logger: TestCluster.logger
        )
        let session = try await connect(cluster)
        #expect(try await Migrator.bundled().status(session).pending.isEmpty)
        #expect(try await session.query("SELECT current_setting('fsync') AS v").only().text("v") == "on")
        #expect(!FileManager.default.fileExists(atPath: cluster.layout.unwrittenMark))
        try await cluster.stop()
    }

    /// The previous version of the program opens its first session there.
    @Test func theUsualDatabaseIsMadeWhileTheGatewayRuns() async throws {
        let directory = try await TestCluster.scratchPath("usual")
        let cluster = try await start(directory)
        let look = "SELECT count(*) AS n FROM pg_database WHERE datname = 'postgres'"
        #expect(try await connect(cluster).query(look).only().int("n") == 0)
        let watch = Task { await cluster.keepRunning(every: .milliseconds(20)) { _ in } }
        try await eventually("it exists") { try await connect(cluster).query(look).only().int("n") == 1 }
        watch.cancel()
        await watch.value
        try await cluster.stop()
    }

    /// The interrupted start did not wait for the disk, so that a loss of power may have damaged what it made.
    @Test(arguments: [false, true]) func dataOfAnInterruptedStartAreMadeAnew(stillRuns: Bool) async throws {
        let directory = try await TestCluster.scratchPath("interrupted")
        func startAndDie() async throws -> (processID: Int32, layout: ClusterLayout) {
            let cluster = try await start(directory)
            try await connect(cluster).script("CREATE TABLE lost (n int)")
            if !stillRuns { try await cluster.stop() }
            return (cluster.processID, cluster.layout)
        }
        let interrupted = try await startAndDie()
        try ClusterFiles.write("", to: interrupted.layout.unwrittenMark)
        let only = await code {
            try await EmbeddedCluster.start(directory: directory, createsData: false, logger: TestCluster.logger)
        }
        #expect(only == .failed)
        let successor = try await start(directory)
        #expect(successor.wasCreated && successor.processID != interrupted.processID)
        let look = "SELECT to_regclass('lost') IS NULL AS v, current_setting('fsync') = 'on' AS w"
        let row = try await connect(successor).query(look).only()
        #expect(try row.bool("v"))
        #expect(try row.bool("w"))
        try await successor.stop()
        #expect(FileManager.default.fileExists(atPath: "\(directory)/data.discarded/PG_VERSION"))
        let third = try await start(directory)
        #expect(!third.wasCreated)
        try await third.stop()
    }

    @Test func aServerWithoutItsDataIsNotStartedOnNewOnes() async throws {
        let directory = try await TestCluster.scratchPath("gone")
        let cluster = try await start(directory)
        try await cluster.postmaster.withLockedValue { $0 }.stop(within: .seconds(30))
        try FileManager.default.removeItem(atPath: "\(directory)/data")
        let reports = NIOLockedValueBox<[String]>([])
        let watch = Task {
            await cluster.keepRunning(every: .milliseconds(20)) { line in reports.withLockedValue { $0.append(line) } }
        }
        try await eventually("it is reported") {
            reports.withLockedValue { $0.contains { $0.contains("does not contain a complete database") } }
        }
        watch.cancel()
        await watch.value
        #expect(!FileManager.default.fileExists(atPath: "\(directory)/data"))
        try await cluster.stop()
    }

    @Test func aSecondGatewayOnTheDirectoryIsRefused() async throws {
        let directory = try await TestCluster.scratchPath("second")
        let first = try await start(directory)
        #expect(await code { try await start(directory) } == .inUse)
        try await first.stop()
        try await start(directory).stop()
    }

    /// A killed gateway leaves its server running and its lock free; the test releases the lock to get the same
    /// state.
    @Test func theServerOfAKilledGatewayIsTakenOver() async throws {
        let directory = try await TestCluster.scratchPath("orphan")
        func startAndDie() async throws -> Int32 { try await start(directory).processID }
        let orphan = try await startAndDie()
        #expect(kill(orphan, 0) == 0)
        let successor = try await start(directory)
        #expect(successor.origin == .adopted && successor.processID == orphan)
        #expect(try await connect(successor).query("SELECT 1 AS n").only().int("n") == 1)
        try await successor.stop()
        #expect(Postmaster.running(in: "\(directory)/data") == nil)
    }

    @Test func anOrphanWithOtherSettingsIsRestarted() async throws {
        let directory = try await TestCluster.scratchPath("changed")
        func startAndDie() async throws -> Int32 { try await start(directory).processID }
        let orphan = try await startAndDie()
        var options = EmbeddedClusterOptions()
        options.maximumConnections = 31
        let successor = try await start(directory, options)
        #expect(successor.origin != .adopted && successor.processID != orphan)
        #expect(
            try await connect(successor).query("SELECT current_setting('max_connections') AS v").only().text("v")
                == "31"
        )
        try await successor.stop()
    }

    // A server that was started with rules that admit everybody keeps them, although the gateway writes its own.
    @Test func anOrphanWithOtherRulesOfAccessIsRestarted() async throws {
        let directory = try await TestCluster.scratchPath("rules")
        func startAndDie() async throws -> Int32 { try await start(directory).processID }
        let orphan = try await startAndDie()
        let rules = "\(directory)/settings/pg_hba.conf"
        try "local all all trust\n".write(toFile: rules, atomically: true, encoding: .utf8)
        let copy = "\(directory)/rules"
        let successor = try await EmbeddedCluster.start(directory: directory, logger: TestCluster.logger) { step in
            // A start that is interrupted here must not leave rules with which the running server was not started.
            guard step.hasPrefix("stopping") else { return }
            try? FileManager.default.copyItem(atPath: rules, toPath: copy)
        }
        #expect(try String(contentsOfFile: copy, encoding: .utf8) == "local all all trust\n")
        #expect(successor.origin != .adopted && successor.processID != orphan)
        #expect(try String(contentsOfFile: rules, encoding: .utf8) == "local all all peer map=gateway\n")
        try await successor.stop()
    }

    @Test func onlyTheGatewaysUserMayConnect() async throws {
        let cluster = try await TestCluster.cluster()
        let server = try await PostgresConnection.connect(
            PostgresConfiguration(cluster.adminConnectionString(database: "template1")),
            logger: TestCluster.logger
        )
        let rule = try await server.query(
            """
            SELECT count(*) AS rules, min(type || ' ' || auth_method || ' ' || options::text) AS rule
            FROM pg_hba_file_rules
            """
        ).only()
        #expect(try rule.int("rules") == 1)
        #expect(try rule.text("rule") == "local peer {map=gateway}")
        let map = try await server.query(
            "SELECT count(*) AS lines, count(DISTINCT sys_name) AS users FROM pg_ident_file_mappings"
        ).only()
        #expect(try map.int("lines") == 3)
        #expect(try map.int("users") == 1)
    }

    // The account of the server may run other programs, which can reach the socket.
    @Test(.enabled(if: geteuid() == 0)) func theAccountOfTheServerMayNotConnect() async throws {
        let cluster = try await TestCluster.cluster()
        let binaries = try await PostgresBinaries.find(version: nil)
        let connect = [
            "-X", "-h", cluster.socketDirectory, "-p", "\(ClusterLayout.port)", "-U", ClusterSettings.superuser, "-d",
            "template1", "-c", "SELECT 1",
        ]
        let program = "\(binaries.directory)/psql"
        let ours = try await ClusterCommand.run(program, connect, as: nil, in: "/")
        #expect(ours.isSuccess, "\(ours.output)")
        let others = try await ClusterCommand.run(program, connect, as: try ClusterAccount.choose(), in: "/")
        #expect(!others.isSuccess)
        #expect(others.output.contains("Peer authentication failed"), "\(others.output)")
    }

    @Test func aServerKilledInMidQueryIsAnErrorAndAfterItsRecoveryTheNextCallWorks() async throws {
        let directory = try await TestCluster.scratchPath("crash")
        let cluster = try await start(directory)
        var limits = PoolLimits()
        limits.waitTimeout = .seconds(60)  // Recovery takes long on a busy machine.
        let pool = PostgresPool(
            PostgresConfiguration(cluster.connectionString(role: .engine)),
            limits: limits,
            logger: TestCluster.logger
        )
        let admin = try await connect(cluster)
        try await admin.script("CREATE TABLE gateway.log (n int); GRANT ALL ON gateway.log TO gateway_engine")
        _ = try await pool.run(Statement("INSERT INTO gateway.log VALUES (1)"), tenant: nil)
        let query = Task { try await pool.run(Statement("SELECT pg_sleep(30)"), tenant: nil) }
        var victim: Int?
        try await eventually("the query runs") {
            victim = try await admin.query(
                "SELECT pid FROM pg_stat_activity WHERE query LIKE '%pg_sleep%' AND state = 'active' AND pid <> pg_backend_pid()"
            ).first?.int("pid")
            return victim != nil
        }
        // When one backend is killed like this, the server ends every session and recovers.
        kill(pid_t(try #require(victim)), SIGKILL)
        await #expect { try await query.value } throws: { ($0 as? PostgresError)?.isRetriable == true }
        #expect(
            try await pool.run(Statement("SELECT n FROM gateway.log"), tenant: nil, timeout: .seconds(60)).only().int(
                "n"
            ) == 1
        )

        // The whole server is killed: the pool reports it, and the next start of a gateway recovers it.
        kill(cluster.processID, SIGKILL)
        var failure: PostgresError?
        try await eventually("the pool reports the lost server") {
            do throws(PostgresError) {
                _ = try await pool.run(Statement("SELECT 1"), tenant: nil, timeout: .milliseconds(500))
            } catch {
                failure = error
            }
            return failure != nil
        }
        #expect(failure?.isRetriable == true)
        try await cluster.stop()
        let again = try await start(directory)
        #expect(
            try await pool.run(Statement("SELECT n FROM gateway.log"), tenant: nil, timeout: .seconds(60)).only().int(
                "n"
            ) == 1
        )
        try await again.stop()
    }

    @Test func aForeignDirectoryIsRefusedAndNotChanged() async throws {
        let directory = try await TestCluster.scratchPath("foreign")
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try Data("x".utf8).write(to: URL(filePath: "\(directory)/precious"))
        #expect(await code { try await start(directory) } == .foreignDirectory)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["precious"])
    }

    @Test func aClusterOfAnotherVersionIsRefused() async throws {
        let directory = try await TestCluster.scratchPath("version")
        try await start(directory).stop()
        try Data("9\n".utf8).write(to: URL(filePath: "\(directory)/data/PG_VERSION"))
        #expect(await code { try await start(directory) } == .wrongVersion)
    }

    @Test func aStartInterruptedDuringInitdbBeginsAgain() async throws {
        let directory = try await TestCluster.scratchPath("half")
        try FileManager.default.createDirectory(atPath: "\(directory)/data.new", withIntermediateDirectories: true)
        try Data("1\n".utf8).write(to: URL(filePath: "\(directory)/push-gateway-cluster"))
        try Data("half".utf8).write(to: URL(filePath: "\(directory)/data.new/PG_VERSION"))
        try await start(directory).stop()
    }

    @Test func aPathTooLongForASocketGetsAShortOne() async throws {
        let directory = try await TestCluster.scratchPath(String(repeating: "long'", count: 20))
        let cluster = try await start(directory)
        #expect(!cluster.socketDirectory.hasPrefix(directory))
        #expect(ClusterLayout.socketPath(in: cluster.socketDirectory).utf8.count <= ClusterLayout.socketPathBytes)
        #expect(try await connect(cluster).query("SELECT 1 AS n").only().int("n") == 1)
        try await cluster.stop()
        try? FileManager.default.removeItem(atPath: cluster.socketDirectory)
    }

    @Test(.enabled(if: geteuid() == 0)) func aDirectoryWithoutPermissionIsRefusedWithItsPath() async throws {
        let closed = try await TestCluster.scratchPath("closed")
        try FileManager.default.createDirectory(
            atPath: closed,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        do {
            _ = try await start("\(closed)/inner")
            Issue.record("should be refused")
        } catch let error as EmbeddedClusterError {
            #expect(error.code == .noAccess && error.description.contains(closed))
        }
    }

    @Test func versionsAreReadFromTheOutputOfTheProgram() {
        #expect(PostgresBinaries.version(in: "postgres (PostgreSQL) 15.20 (Debian 15.20-0+deb12u1)") == 15)
        #expect(PostgresBinaries.version(in: "postgres (PostgreSQL) 17devel") == 17)
        #expect(PostgresBinaries.version(in: "bash: no") == nil)
    }

    @Test func aPostmasterFileOfAnotherProcessIsIgnored() async throws {
        let directory = try await TestCluster.scratchPath("stale")
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try Data("\(getpid())\n\(directory)\n0\n5432\n/tmp\n".utf8).write(
            to: URL(filePath: "\(directory)/postmaster.pid")
        )
        #expect(Postmaster.running(in: directory) == nil)
        #expect(Postmaster.parse("") == nil && Postmaster.parse("-1\n") == nil && Postmaster.parse("x") == nil)
    }
}
