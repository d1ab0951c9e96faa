package import DatabaseSchema
import FoundationEssentials
import Glibc
package import Logging
import NIOConcurrencyHelpers
import PostgresClient

/// A private PostgreSQL cluster in a directory of its own, on a unix socket, never a port.
///
/// For trying out and for small installations. Made by `start`, which also finds the cluster that a killed gateway left
/// running; ended by `stop`. The directory is this process's for the life of the object. Only the system user that runs
/// the gateway gets in (peer authentication behind a directory of mode 0700), so there is no password to leak.
package final class EmbeddedCluster: Sendable {
    /// The database of the gateway.
    package static let databaseName = "gateway"

    /// True when a running server was taken over instead of started.
    package let wasAdopted: Bool

    private let layout: ClusterLayout
    private let options: EmbeddedClusterOptions
    private let starter: ClusterStarter
    private let postmaster: NIOLockedValueBox<Postmaster>
    private let lock: NIOLockedValueBox<ClusterLock?>

    private init(
        _ layout: ClusterLayout,
        _ starter: ClusterStarter,
        _ postmaster: Postmaster,
        _ lock: ClusterLock,
        wasAdopted: Bool
    ) {
        self.layout = layout
        self.options = starter.options
        self.starter = starter
        self.postmaster = NIOLockedValueBox(postmaster)
        self.lock = NIOLockedValueBox(lock)
        self.wasAdopted = wasAdopted
    }

    /// Makes the cluster if there is none, starts it if it does not run, and sees to database, roles and schema.
    ///
    /// `directory` is absolute and the cluster's alone. `progress` gets a line per step that a person may wait for.
    /// - Throws: `EmbeddedClusterError`; its text says what to do.
    package static func start(
        directory: String,
        options: EmbeddedClusterOptions = EmbeddedClusterOptions(),
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
        let (postmaster, wasAdopted) = try await starter.start()
        let cluster = EmbeddedCluster(layout, starter, postmaster, lock, wasAdopted: wasAdopted)
        try await cluster.prepareDatabase(logger)
        return cluster
    }

    /// The superuser, for migrations and backups. Not for serving.
    package var superuserConnectionString: String { adminConnectionString(database: Self.databaseName) }

    /// The same as `superuserConnectionString`.
    package var adminConnectionString: String { superuserConnectionString }

    /// The superuser in another database of the cluster.
    package func adminConnectionString(database: String) -> String {
        connectionString(user: ClusterSettings.superuser, database: database)
    }

    /// One of the gateway's roles. The owner cannot log in: for it the superuser takes its place.
    package func connectionString(role: GatewayRole, database: String = EmbeddedCluster.databaseName) -> String {
        switch role {
        case .call, .engine: connectionString(user: role.rawValue, database: database)
        case .owner: adminConnectionString(database: database) + " options='-c role=\(role.rawValue)'"
        }
    }

    /// The directory of the socket, for `psql -h`.
    package var socketDirectory: String { layout.socketDirectory }

    /// The file that the server writes its warnings to.
    package var logPath: String { layout.log }

    /// The server's process.
    package var processID: Int32 { postmaster.withLockedValue { $0.processID } }

    /// Starts the server again whenever it has died (killed, out of memory), until the task is canceled.
    ///
    /// - Parameters:
    ///   - interval: how often it is looked at; its sessions reconnect by themselves.
    ///   - report: told each restart and each failed one, in a sentence.
    package func keepRunning(every interval: Duration = .seconds(1), report: @Sendable (String) -> Void) async {
        while (try? await Task.sleep(for: interval)) != nil {
            // By the directory, not the number: that may be a stranger's by now.
            guard Postmaster.running(in: layout.data) == nil else { continue }
            report("PostgreSQL has died; starting it again")
            do throws(EmbeddedClusterError) {
                let (server, _) = try await starter.start()
                postmaster.withLockedValue { $0 = server }
            } catch {
                report("PostgreSQL could not be started again: \(error)")
            }
        }
    }

    /// Ends the server and gives the directory free. Sessions still open are cut; what they committed is safe.
    ///
    /// - Throws: `failed` when the server does not end.
    package func stop() async throws(EmbeddedClusterError) {
        // Looked up anew: if the server has died, its number may be a stranger's by now.
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
        // A runtime directory of root's is closed to the account; /tmp is not.
        let runtime = account.differsFromOurs ? nil : ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"]
        return ClusterLayout(directory: directory, userID: account.userID, runtimeDirectory: runtime)
    }

    /// Refuses a directory that is not ours, and makes one that is not there.
    private static func takeDirectory(_ layout: ClusterLayout, _ account: ClusterAccount) throws(EmbeddedClusterError) {
        let files = FileManager.default
        if files.fileExists(atPath: layout.directory), !files.fileExists(atPath: layout.marker) {
            guard let content = try? files.contentsOfDirectory(atPath: layout.directory), content.isEmpty else {
                throw EmbeddedClusterError(
                    .foreignDirectory,
                    "\(layout.directory) holds something that push-gateway did not make: choose another --data-dir, or "
                        + "connect to a PostgreSQL of your own with --database-url"
                )
            }
        }
        try ClusterFiles.checkPassage(to: layout.directory, for: account)
        try ClusterFiles.makeParents(of: layout.directory)
        try ClusterFiles.makeDirectory(layout.directory, mode: 0o711, owner: nil)
        if !files.fileExists(atPath: layout.marker) { try ClusterFiles.write("1\n", to: layout.marker) }
    }

    private func prepareDatabase(_ logger: Logger) async throws(EmbeddedClusterError) {
        do throws(PostgresError) {
            let server = try await PostgresConnection.connect(
                PostgresConfiguration(adminConnectionString(database: "postgres")),
                logger: logger
            )
            let look = Statement("SELECT 1 FROM pg_database WHERE datname = $1", [.text(Self.databaseName)])
            if try await server.run(Transaction(tenant: nil, [look])).first?.isEmpty != false {
                try await server.script("CREATE DATABASE \(Self.databaseName)")
            }
            let admin = try await PostgresConnection.connect(
                PostgresConfiguration(superuserConnectionString),
                logger: logger
            )
            try await Bootstrap.prepare(admin)
        } catch {
            throw EmbeddedClusterError(.failed, "the database could not be prepared: \(error.debugDescription)")
        }
    }

    private func connectionString(user: String, database: String) -> String {
        layout.connectionString(user: user, database: database)
    }
}
