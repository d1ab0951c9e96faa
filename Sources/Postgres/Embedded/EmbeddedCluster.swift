package import DatabaseSchema
import FoundationEssentials
import Glibc
package import Logging
import NIOConcurrencyHelpers
import PostgresClient

/// A private PostgreSQL cluster in its own directory, which listens on a unix socket and never on a port.
///
/// For evaluation and small installations. Made by `start`, which also adopts the cluster that a killed gateway left
/// running; ended by `stop`. This process owns the directory for the life of the object. Only the system user that runs
/// the gateway can connect (peer authentication behind a directory of mode 0700), so no password exists that could leak.
package final class EmbeddedCluster: Sendable {
    /// The database of the gateway.
    package static let databaseName = "gateway"

    let origin: ClusterStarter.Origin

    /// True when this start made the data.
    package var wasCreated: Bool { origin == .created }

    let layout: ClusterLayout
    private let options: EmbeddedClusterOptions
    private let starter: ClusterStarter
    let postmaster: NIOLockedValueBox<Postmaster>
    private let lock: NIOLockedValueBox<ClusterLock?>

    private init(
        _ layout: ClusterLayout,
        _ starter: ClusterStarter,
        _ postmaster: Postmaster,
        _ lock: ClusterLock,
        _ origin: ClusterStarter.Origin
    ) {
        self.layout = layout
        self.options = starter.options
        self.starter = starter
        self.postmaster = NIOLockedValueBox(postmaster)
        self.lock = NIOLockedValueBox(lock)
        self.origin = origin
    }

    /// Creates the cluster if it does not exist, starts it if it does not run, and prepares the database and its roles.
    ///
    /// - Parameters:
    ///   - directory: an absolute path that only the cluster uses.
    ///   - options: its limits.
    ///   - migratesNew: whether a new cluster gets the gateway's tables too. It gets them faster than a `Migrator` could make them afterwards, because new data is
    ///     written to the disk at once.
    ///   - createsData: false: a cluster that does not exist is an error.
    ///   - logger: receives what the server reports.
    ///   - progress: receives a line for each slow step.
    /// - Returns: the cluster, which answers.
    /// - Throws: `EmbeddedClusterError`; its text suggests a remedy.
    package static func start(
        directory: String,
        options: EmbeddedClusterOptions = EmbeddedClusterOptions(),
        migratesNew: Bool = false,
        createsData: Bool = true,
        logger: Logger,
        progress: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws(EmbeddedClusterError) -> EmbeddedCluster {
        let account = try ClusterAccount.choose()
        let layout = try makeLayout(directory, account)
        try takeDirectory(layout, account)
        let lock = try ClusterLock(path: layout.lock)
        let starter = ClusterStarter(
            layout: layout,
            account: account,
            options: options,
            logger: logger,
            progress: progress
        )
        let (postmaster, origin) = try await starter.start(createsData: createsData)
        let cluster = EmbeddedCluster(layout, starter, postmaster, lock, origin)
        do throws(EmbeddedClusterError) {
            try await cluster.prepareDatabase(logger, migrates: migratesNew && origin == .created, progress)
        } catch {
            // The next start discards its data.
            if origin == .created { try? await cluster.stop() }
            throw error
        }
        return cluster
    }

    /// The connection string of the superuser, for migrations and backups. Not for serving.
    package var superuserConnectionString: String { adminConnectionString(database: Self.databaseName) }

    /// The same as `superuserConnectionString`.
    package var adminConnectionString: String { superuserConnectionString }

    /// The connection string of the superuser for another database of the cluster.
    package func adminConnectionString(database: String) -> String {
        connectionString(user: ClusterSettings.superuser, database: database)
    }

    /// The connection string of one of the gateway's roles. The owner cannot log in, so the superuser is used in its place.
    package func connectionString(role: GatewayRole, database: String = EmbeddedCluster.databaseName) -> String {
        switch role {
        case .call, .engine: connectionString(user: role.rawValue, database: database)
        case .owner: adminConnectionString(database: database) + " options='-c role=\(role.rawValue)'"
        }
    }

    /// Restarts the server whenever it has died (killed, out of memory), until the task is cancelled. After a first start it also makes the database `postgres`.
    ///
    /// - Parameters:
    ///   - interval: how often the server is checked. Its sessions reconnect by themselves.
    ///   - report: receives a sentence for each restart and for each failed restart.
    package func keepRunning(every interval: Duration = .seconds(1), report: @Sendable (String) -> Void) async {
        var hasUsualDatabase = origin != .created
        while (try? await Task.sleep(for: interval)) != nil {
            // Found by the directory instead of the process ID, which may belong to another process by now.
            guard Postmaster.running(in: layout.data) == nil else {
                if !hasUsualDatabase { hasUsualDatabase = (try? await makeUsualDatabase()) != nil }
                continue
            }
            report("PostgreSQL has died; restarting it")
            do throws(EmbeddedClusterError) {
                let (server, _) = try await starter.start(createsData: false)
                postmaster.withLockedValue { $0 = server }
            } catch {
                report("PostgreSQL could not be restarted: \(error)")
            }
        }
    }

    /// Stops the server and releases the directory. Open sessions are terminated; committed data is safe.
    ///
    /// - Throws: `failed` when the server does not stop.
    package func stop() async throws(EmbeddedClusterError) {
        if origin == .created { try? await makeUsualDatabase() }
        // Found again: if the server has died, its process ID may belong to another process by now.
        if let running = Postmaster.running(in: layout.data) { try await running.stop(within: options.stopTimeout) }
        lock.withLockedValue { $0 = nil }
    }

    // MARK: Steps

    static func makeLayout(_ directory: String, _ account: ClusterAccount) throws(EmbeddedClusterError)
        -> ClusterLayout
    {
        guard directory.hasPrefix("/"), !directory.contains("\n"), !directory.utf8.contains(0) else {
            throw EmbeddedClusterError(.failed, "the cluster's directory must be an absolute path")
        }
        // The account cannot enter the runtime directory of root; it can enter /tmp.
        let runtime = account.differsFromOurs ? nil : ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"]
        return ClusterLayout(directory: directory, userID: account.userID, runtimeDirectory: runtime)
    }

    /// Refuses a directory that is not the gateway's, and creates one that does not exist.
    private static func takeDirectory(_ layout: ClusterLayout, _ account: ClusterAccount) throws(EmbeddedClusterError) {
        let files = FileManager.default
        if files.fileExists(atPath: layout.directory), !files.fileExists(atPath: layout.marker) {
            guard let content = try? files.contentsOfDirectory(atPath: layout.directory), content.isEmpty else {
                throw EmbeddedClusterError(
                    .foreignDirectory,
                    "\(layout.directory) contains files that push-gateway did not create: choose another --data-dir, or "
                        + "connect to a PostgreSQL of your own with --database-url"
                )
            }
        }
        try ClusterFiles.checkPassage(to: layout.directory, for: account)
        try ClusterFiles.makeParents(of: layout.directory)
        try ClusterFiles.makeDirectory(layout.directory, mode: 0o711, owner: nil)
        if !files.fileExists(atPath: layout.marker) { try ClusterFiles.write("1\n", to: layout.marker) }
    }

    private func prepareDatabase(
        _ logger: Logger,
        migrates: Bool,
        _ progress: @escaping @Sendable (String) -> Void
    ) async throws(EmbeddedClusterError) {
        let admin: PostgresConnection
        do throws(PostgresError) {
            try await makeDatabase(logger)
            admin = try await connect(to: Self.databaseName, logger)
            try await Bootstrap.prepare(admin)
        } catch {
            throw EmbeddedClusterError(.failed, "the database could not be prepared: \(error.debugDescription)")
        }
        if migrates {
            do throws(MigrationError) {
                _ = try await Migrator.bundled().migrate(admin, progress: progress)
            } catch {
                throw EmbeddedClusterError(.failed, "\(error)")
            }
        }
        if origin == .created { try await starter.writeNewData(admin) }
        await admin.close()
    }

    private func makeDatabase(_ logger: Logger) async throws(PostgresError) {
        let server = try await connect(to: "template1", logger)
        if origin == .created {
            // The empty database of initdb: a copy of it would take longer than all tables.
            try await server.script("ALTER DATABASE postgres RENAME TO \(Self.databaseName)")
        } else {
            try await Self.make(Self.databaseName, on: server)
        }
        await server.close()
    }

    /// Makes the database that tools and earlier versions of the program look for, after the first start has given its own to the gateway.
    private func makeUsualDatabase() async throws(PostgresError) {
        let server = try await connect(to: Self.databaseName, starter.logger)
        try await Self.make("postgres", on: server)
        await server.close()
    }

    private static func make(_ database: String, on server: PostgresConnection) async throws(PostgresError) {
        let look = Statement("SELECT 1 FROM pg_database WHERE datname = $1", [.text(database)])
        guard try await server.run(Transaction(tenant: nil, [look])).first?.isEmpty != false else { return }
        try await server.script("CREATE DATABASE \(database)")
    }

    private func connect(to database: String, _ logger: Logger) async throws(PostgresError) -> PostgresConnection {
        try await PostgresConnection.connect(
            PostgresConfiguration(adminConnectionString(database: database)),
            logger: logger
        )
    }

    private func connectionString(user: String, database: String) -> String {
        layout.connectionString(user: user, database: database)
    }
}
