import DatabaseSchema
package import EmbeddedPostgres
import Foundation
package import Logging
package import PostgresClient
import Synchronization
import TestKit

/// One private PostgreSQL per test process, and databases that are copied from templates in it.
///
/// A copy costs more than most tests: only a test that changes the time, the schema, or data of all tenants uses one. The others share a
/// database (`DatabaseStores.shared`).
package enum TestCluster {
    private static let folderPrefix = "push-gateway-tests-"
    private static let shared = Task { try await launch() }
    private static let counter = Atomic<Int>(0)

    package static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Long timeouts: a hundred tests start at once, perhaps during a build, and speed is not tested.
    package static func configuration(_ connectionString: String) -> PostgresConfiguration {
        var configuration = PostgresConfiguration(connectionString)
        configuration.connectTimeout = .seconds(60)
        // A hundred copies of one template share its lock. A session that starts in the template queues between them,
        // and the copies after it wait for all earlier ones.
        configuration.lockTimeout = .seconds(120)
        configuration.batchTimeout = .seconds(120)
        configuration.statementTimeout = .seconds(180)
        return configuration
    }

    /// The cluster all suites share. Never stop it.
    package static func cluster() async throws -> EmbeddedCluster { try await shared.value.cluster }

    /// A database for one test: with the schema, or with roles and an empty schema only.
    package static func database(migrated: Bool = true) async throws -> TestDatabase {
        let launched = try await shared.value
        let schema = migrated ? try await launched.schema.value : nil
        let template = schema?.template ?? Launched.bareTemplate
        let name = "test_\(counter.add(1, ordering: .relaxed).newValue)"
        let admin = try await launched.server()
        try await admin.script("CREATE DATABASE \(name) TEMPLATE \(template)")
        return TestDatabase(name: name, cluster: launched.cluster, inspector: schema?.inspector)
    }

    /// A path for a cluster or file of one test, removed at the end of the process.
    package static func scratchPath(_ name: String) async throws -> String {
        _ = try await shared.value
        return "\(folder)/\(name)-\(counter.add(1, ordering: .relaxed).newValue)"
    }

    private static var folder: String { "\(ScratchFolder.root)/\(folderPrefix)\(getpid())" }

    /// A launched cluster with its templates.
    struct Launched: Sendable {
        static let bareTemplate = "bare"

        let cluster: EmbeddedCluster

        /// A migrated template, and the tables for the checks of statements.
        struct Schema: Sendable {
            let template: String
            let inspector: StatementInspector
        }

        /// Created at first use, so that suites about the client do not depend on the schema.
        let schema: Task<Schema, any Error>

        func server() async throws -> PostgresConnection {
            try await PostgresConnection.connect(
                TestCluster.configuration(cluster.adminConnectionString(database: "template1")),
                logger: TestCluster.logger
            )
        }
    }

    private static func launch() async throws -> Launched {
        removeLeftovers()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var options = EmbeddedClusterOptions()
        // Hundreds of databases with pools of several sessions each, which stay open for a while after their tests.
        options.maximumConnections = 1500
        let cluster = try await EmbeddedCluster.start(
            directory: "\(folder)/shared",
            options: options,
            logger: logger
        )
        atexit { TestCluster.tearDown() }
        let launchedServer = try await PostgresConnection.connect(
            TestCluster.configuration(cluster.adminConnectionString(database: "template1")),
            logger: logger
        )
        try await launchedServer.script("ALTER DATABASE gateway RENAME TO \(Launched.bareTemplate)")
        let schema = Task {
            try await launchedServer.script("CREATE DATABASE migrated TEMPLATE \(Launched.bareTemplate)")
            let admin = try await PostgresConnection.connect(
                TestCluster.configuration(cluster.adminConnectionString(database: "migrated")),
                logger: logger
            )
            try await Migrator.bundled().migrate(admin)
            let inspector = try await StatementInspector(admin)
            await admin.close()
            return Launched.Schema(template: "migrated", inspector: inspector)
        }
        return Launched(cluster: cluster, schema: schema)
    }

    /// Servers and folders of test processes that were killed.
    private static func removeLeftovers() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: ScratchFolder.root)) ?? []
        for name in names where name.hasPrefix(folderPrefix) {
            guard let owner = pid_t(name.dropFirst(folderPrefix.count)), kill(owner, 0) != 0 else { continue }
            let clusters = (try? FileManager.default.contentsOfDirectory(atPath: "\(ScratchFolder.root)/\(name)")) ?? []
            for cluster in clusters { end(serverOf: "\(ScratchFolder.root)/\(name)/\(cluster)/data") }
            try? FileManager.default.removeItem(atPath: "\(ScratchFolder.root)/\(name)")
        }
    }

    private static func tearDown() {
        let clusters = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for cluster in clusters { end(serverOf: "\(folder)/\(cluster)/data") }
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Ends the server of a data directory immediately, because its data is not used any longer.
    private static func end(serverOf data: String) {
        // The first line of the file is the process id. The working directory of that process shows whether it is
        // this server or another process with the same id.
        guard let file = try? String(contentsOfFile: "\(data)/postmaster.pid", encoding: .utf8),
            let process = file.split(separator: "\n").first.flatMap({ pid_t($0) }), process > 1,
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/cwd")) == data
        else { return }
        kill(process, SIGQUIT)
        for _ in 0..<400 where FileManager.default.fileExists(atPath: "/proc/\(process)/cwd") { usleep(5000) }
        if FileManager.default.fileExists(atPath: "/proc/\(process)/cwd") {
            print("TestCluster: PostgreSQL (process \(process)) of \(data) has not ended within two seconds")
        }
    }
}
