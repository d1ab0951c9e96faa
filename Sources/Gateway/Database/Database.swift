package import DatabaseSchema
import EmbeddedPostgres
import EngineStore
import Foundation
package import Logging
import Model
package import PostgresClient
package import Secrets

/// The database of a command: the operator's own, or the embedded cluster, which is started if it does not run.
package struct Database: Sendable {
    package let call: PostgresPool
    package let engine: PostgresPool
    package let adminConnectionString: String
    package let engineConfiguration: PostgresConfiguration
    /// Set when this process started the cluster and must stop it.
    private let cluster: EmbeddedCluster?
    package let isEmbedded: Bool

    /// Opens pools on a database with a suitable schema. An embedded database with an older schema is migrated first.
    ///
    /// - Parameters:
    ///   - configuration: where the database is.
    ///   - migrates: whether an external database is migrated as well; only `database migrate` does that.
    ///   - mayAttach: whether the embedded cluster of a running gateway may be shared; `serve` must own it.
    ///   - logger: for notices of the server.
    ///   - progress: receives a sentence for each step.
    /// - Returns: the open database; the caller closes it.
    /// - Throws: the error of the cluster, the connection or a migration.
    package static func open(
        _ configuration: GatewayConfiguration,
        migrates: Bool = false,
        mayAttach: Bool = true,
        logger: Logger,
        progress: @escaping @Sendable (String) -> Void
    ) async throws -> Database {
        guard let url = configuration.databaseURL else {
            return try await openEmbedded(configuration, logger, progress, mayAttach: mayAttach)
        }
        let database = Database(
            admin: url,
            call: configuration.callDatabaseURL ?? role(.call, of: url),
            engine: configuration.engineDatabaseURL ?? role(.engine, of: url),
            cluster: nil,
            isEmbedded: false,
            configuration: configuration,
            logger: logger
        )
        do {
            if migrates {
                try await database.migrate(logger, progress)
            } else {
                try await database.requireSchema(logger)
                try await database.requireOwnFlush()
            }
        } catch {
            await database.close()
            throw error
        }
        return database
    }

    /// Opens a database like `open`, runs `body` on it and closes it, also after an error.
    ///
    /// - Throws: the error of `body` or of opening the database.
    package static func with<Value: Sendable>(
        _ configuration: GatewayConfiguration,
        migrates: Bool = false,
        logger: Logger,
        progress: @escaping @Sendable (String) -> Void,
        _ body: (Database) async throws -> Value
    ) async throws -> Value {
        let database = try await open(configuration, migrates: migrates, logger: logger, progress: progress)
        do {
            let value = try await body(database)
            await database.close()
            return value
        } catch {
            await database.close()
            throw error
        }
    }

    private static func openEmbedded(
        _ configuration: GatewayConfiguration,
        _ logger: Logger,
        _ progress: @escaping @Sendable (String) -> Void,
        mayAttach: Bool
    ) async throws -> Database {
        let directory = configuration.dataDirectory + "/postgres"
        let cluster: EmbeddedCluster
        do throws(EmbeddedClusterError) {
            cluster = try await EmbeddedCluster.start(
                directory: directory,
                migratesNew: true,
                logger: logger,
                progress: progress
            )
        } catch {
            guard error.code == .inUse, mayAttach else { throw error }
            // A gateway runs on this cluster: it has migrated the database and will stop the cluster.
            let running = try AttachedCluster(directory: directory)
            return Database(
                admin: running.adminConnectionString,
                call: running.connectionString(role: .call),
                engine: running.connectionString(role: .engine),
                cluster: nil,
                isEmbedded: true,
                configuration: configuration,
                logger: logger
            )
        }
        let database = Database(
            admin: cluster.adminConnectionString,
            call: cluster.connectionString(role: .call),
            engine: cluster.connectionString(role: .engine),
            cluster: cluster,
            isEmbedded: true,
            configuration: configuration,
            logger: logger
        )
        do {
            if !cluster.wasCreated { try await database.migrate(logger, progress) }
        } catch {
            try? await cluster.stop()
            throw error
        }
        return database
    }

    private init(
        admin: String,
        call: String,
        engine: String,
        cluster: EmbeddedCluster?,
        isEmbedded: Bool,
        configuration: GatewayConfiguration,
        logger: Logger
    ) {
        var limits = PoolLimits()
        limits.maximumConnections = configuration.databaseConnections
        adminConnectionString = admin
        func pool(_ url: String) -> PostgresConfiguration {
            var pool = PostgresConfiguration(url)
            pool.sharesFlush = configuration.databaseSharedFlush
            return pool
        }
        engineConfiguration = pool(engine)
        self.call = PostgresPool(pool(call), limits: limits, logger: logger)
        self.engine = PostgresPool(engineConfiguration, limits: limits, logger: logger)
        self.cluster = cluster
        self.isEmbedded = isEmbedded
    }

    /// The connection string of one of the gateway's roles on the same server: libpq uses the last `user` of the string.
    package static func role(_ role: GatewayRole, of url: String) -> String {
        if url.hasPrefix("postgres://") || url.hasPrefix("postgresql://") {
            return url + (url.contains("?") ? "&" : "?") + "user=\(role.rawValue)"
        }
        return url + " user=\(role.rawValue)"
    }

    /// Creates the roles and migrates the schema.
    ///
    /// - Throws: `PostgresError`, `MigrationError`.
    package func migrate(_ logger: Logger, _ progress: @escaping @Sendable (String) -> Void) async throws {
        let admin = try await PostgresConnection.connect(PostgresConfiguration(adminConnectionString), logger: logger)
        do {
            try await Bootstrap.prepare(admin)
            try await Migrator.bundled().migrate(admin, progress: progress)
        } catch {
            await admin.close()
            throw error
        }
        await admin.close()
    }

    /// Compares the schema with this program.
    ///
    /// - Throws: `DatabaseProblem` when the gateway's role cannot open a session, `MigrationError`.
    package func schema(_ logger: Logger) async throws -> MigrationStatus {
        let session: PostgresConnection
        do {
            session = try await connected(logger)
        } catch {
            throw DatabaseProblem("no session as \(GatewayRole.engine.rawValue): \(error); \(DatabaseProblem.advice)")
        }
        do {
            let status = try await Migrator.bundled().status(session)
            await session.close()
            return status
        } catch {
            await session.close()
            throw error
        }
    }

    /// 30 s: as long as a server with a full log takes to recover from a crash. Until then it reports that it is starting up, and a gateway started at the same
    /// time should wait for it.
    private static let recoveryWait: Duration = .seconds(30)

    private func connected(_ logger: Logger) async throws -> PostgresConnection {
        let end = ContinuousClock.now + Self.recoveryWait
        while true {
            do throws(PostgresError) {
                return try await PostgresConnection.connect(engineConfiguration, logger: logger)
            } catch {
                guard error.code == .shuttingDown, ContinuousClock.now < end else { throw error }
                try await Task.sleep(for: .milliseconds(250))
            }
        }
    }

    /// Refuses an unsuitable schema: only operators change the schema of their own database.
    private func requireSchema(_ logger: Logger) async throws {
        if let obstacle = try await schema(logger).obstacle {
            throw DatabaseProblem("\(obstacle); \(DatabaseProblem.advice)")
        }
    }

    /// Refuses Citus. A shared flush applies to the log of the connected server, but on Citus the rows are on another server.
    private func requireOwnFlush() async throws {
        guard engineConfiguration.sharesFlush else { return }
        let citus = Statement("SELECT count(*) AS count FROM pg_extension WHERE extname = 'citus'")
        guard try await engine.run(citus, tenant: nil).only().int("count") > 0 else { return }
        throw DatabaseProblem("the database is distributed with Citus; start with --no-database-shared-flush")
    }

    /// The master keys of this node, of which the one that this database names seals. A new embedded installation gets a new key.
    ///
    /// - Throws: `MasterKeyError`, `StoreError`.
    package func keyRing(_ configuration: GatewayConfiguration) async throws -> KeyRing {
        let directory = PostgresDirectory(call: call, engine: engine)
        // A restored database names its key: a new one would open nothing, and would take the place of the right file.
        var isNew = isEmbedded
        if isNew { isNew = try await directory.masterKey() == nil }
        let ring = try await configuration.masterKeySource.ring(createIfMissing: isNew)
        try await ring.bind(to: directory)
        return ring
    }

    /// Keeps the private PostgreSQL running until the task is canceled. Returns at once for an external database.
    package func keepRunning(_ logger: Logger) async {
        await cluster?.keepRunning { logger.warning("\($0)") }
    }

    /// Closes the pools, and stops the cluster if this process started it.
    package func close() async {
        await call.close()
        await engine.close()
        try? await cluster?.stop()
    }
}

/// The reason why the operator's own database cannot be used yet.
package struct DatabaseProblem: Error, CustomStringConvertible {
    package static let advice =
        "run 'push-gateway database migrate --database-url …' once, as a superuser or a role that may create roles"

    package let description: String
    package init(_ description: String) { self.description = description }
}
