import Foundation
import Logging
import Synchronization

@testable import Postgres

/// One private PostgreSQL per test process, and fresh databases from templates in it.
enum TestCluster {
    private static let folderPrefix = "push-gateway-tests-"
    private static let shared = Task { try await launch() }
    private static let counter = Atomic<Int>(0)

    /// Read by `atexit`, which can capture nothing.
    private static let serverProcess = Atomic<Int32>(0)

    static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Patient: a hundred tests start at once, perhaps beside a build, and what they test is not speed.
    static func configuration(_ connectionString: String) -> PostgresConfiguration {
        var configuration = PostgresConfiguration(connectionString)
        configuration.connectTimeout = .seconds(60)
        // A hundred copies of one template share its lock; a session that starts in it queues between them, and the copies behind it wait for all before.
        configuration.lockTimeout = .seconds(120)
        configuration.batchTimeout = .seconds(120)
        configuration.statementTimeout = .seconds(180)
        return configuration
    }

    /// The cluster all suites share. Never stop it.
    static func cluster() async throws -> EmbeddedCluster { try await shared.value.cluster }

    /// A database that nobody else uses: with our schema, or with roles and an empty schema only.
    static func database(migrated: Bool = true) async throws -> TestDatabase {
        let launched = try await shared.value
        let template = migrated ? try await launched.migratedTemplate.value : Launched.bareTemplate
        let name = "test_\(counter.add(1, ordering: .relaxed).newValue)"
        let admin = try await launched.server()
        try await admin.script("CREATE DATABASE \(name) TEMPLATE \(template)")
        return TestDatabase(name: name, cluster: launched.cluster)
    }

    /// A path for a cluster or file of one test, removed at the end of the process.
    static func scratchPath(_ name: String) async throws -> String {
        _ = try await shared.value
        return "\(folder)/\(name)-\(counter.add(1, ordering: .relaxed).newValue)"
    }

    private static var folder: String { "/tmp/\(folderPrefix)\(getpid())" }

    /// A launched cluster with its templates.
    struct Launched: Sendable {
        static let bareTemplate = "bare"

        let cluster: EmbeddedCluster

        /// Made at first use, so that suites about the client do not depend on the schema.
        let migratedTemplate: Task<String, any Error>

        func server() async throws -> PostgresConnection {
            try await PostgresConnection.connect(
                TestCluster.configuration(cluster.adminConnectionString(database: "postgres")),
                logger: TestCluster.logger
            )
        }
    }

    private static func launch() async throws -> Launched {
        removeLeftovers()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var options = EmbeddedClusterOptions()
        options.maximumConnections = 600
        let cluster = try await EmbeddedCluster.start(
            directory: "\(folder)/shared",
            options: options,
            logger: logger
        )
        serverProcess.store(cluster.processID, ordering: .relaxed)
        atexit { TestCluster.tearDown() }
        let launchedServer = try await PostgresConnection.connect(
            TestCluster.configuration(cluster.adminConnectionString(database: "postgres")),
            logger: logger
        )
        try await launchedServer.script("ALTER DATABASE gateway RENAME TO \(Launched.bareTemplate)")
        let migratedTemplate = Task {
            try await launchedServer.script("CREATE DATABASE migrated TEMPLATE \(Launched.bareTemplate)")
            let admin = try await PostgresConnection.connect(
                TestCluster.configuration(cluster.adminConnectionString(database: "migrated")),
                logger: logger
            )
            try await Migrator.bundled().migrate(admin)
            await admin.close()
            return "migrated"
        }
        return Launched(cluster: cluster, migratedTemplate: migratedTemplate)
    }

    /// Servers and folders of test processes that were killed.
    private static func removeLeftovers() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/tmp")) ?? []
        for name in names where name.hasPrefix(folderPrefix) {
            guard let owner = pid_t(name.dropFirst(folderPrefix.count)), kill(owner, 0) != 0 else { continue }
            let clusters = (try? FileManager.default.contentsOfDirectory(atPath: "/tmp/\(name)")) ?? []
            for cluster in clusters { end(Postmaster.running(in: "/tmp/\(name)/\(cluster)/data")) }
            try? FileManager.default.removeItem(atPath: "/tmp/\(name)")
        }
    }

    private static func tearDown() {
        let clusters = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for cluster in clusters { end(Postmaster.running(in: "\(folder)/\(cluster)/data")) }
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Immediate shutdown: nobody will read this data again.
    private static func end(_ postmaster: Postmaster?) {
        guard let postmaster else { return }
        kill(postmaster.processID, SIGQUIT)
        for _ in 0..<400 where postmaster.isAlive { usleep(5000) }
    }
}

/// One database of the test cluster.
struct TestDatabase: Sendable {
    let name: String
    let cluster: EmbeddedCluster

    func configuration(_ role: GatewayRole) -> PostgresConfiguration {
        TestCluster.configuration(cluster.connectionString(role: role, database: name))
    }

    func pool(_ role: GatewayRole, limits: PoolLimits = .patient()) -> PostgresPool {
        PostgresPool(configuration(role), limits: limits, logger: TestCluster.logger)
    }

    /// The superuser: row-level security does not apply.
    func admin() async throws -> PostgresConnection {
        try await PostgresConnection.connect(
            TestCluster.configuration(cluster.adminConnectionString(database: name)),
            logger: TestCluster.logger
        )
    }
}

extension PoolLimits {
    /// A call waits for its session however slow the machine is: what is tested is not speed.
    static func patient(maximumConnections: Int = PoolLimits().maximumConnections) -> PoolLimits {
        var limits = PoolLimits(maximumConnections: maximumConnections)
        limits.waitTimeout = .seconds(120)
        return limits
    }
}

extension PostgresConnection {
    /// One statement of no tenant.
    func query(_ sql: String, _ parameters: [PostgresValue] = []) async throws -> ResultSet {
        try await run(Transaction(tenant: nil, [Statement(sql, parameters)])).first ?? .empty
    }
}
