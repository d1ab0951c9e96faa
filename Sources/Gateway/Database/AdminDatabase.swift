import DatabaseSchema
import EmbeddedPostgres
import Foundation
package import Logging

/// A database with administrator access. Opening it neither migrates nor checks the schema. Used for backups and for commands that print or check.
package struct AdminDatabase: Sendable {
    package let connectionString: String
    /// The connection string of the engine's role, if the database has that role.
    package let engineConnectionString: String
    package let isEmbedded: Bool
    /// Set when this process started the cluster and must stop it.
    private let cluster: EmbeddedCluster?

    /// The permitted states of an embedded cluster.
    package enum Access {
        /// The cluster must exist; the cluster of a running gateway is accepted.
        case existing
        /// A missing cluster is created; no gateway may run on it.
        case exclusive
    }

    /// - Parameters:
    ///   - configuration: where the database is.
    ///   - access: the rule for an embedded cluster.
    ///   - logger: for notices of the server.
    ///   - progress: receives a sentence for each step of a start.
    /// - Returns: the database; the caller closes it.
    /// - Throws: `EmbeddedClusterError`, `DatabaseProblem`.
    package static func open(
        _ configuration: GatewayConfiguration,
        _ access: Access,
        logger: Logger,
        progress: @escaping @Sendable (String) -> Void
    ) async throws -> AdminDatabase {
        if let url = configuration.databaseURL {
            return AdminDatabase(
                connectionString: url,
                engineConnectionString: configuration.engineDatabaseURL ?? Database.role(.engine, of: url),
                isEmbedded: false,
                cluster: nil
            )
        }
        let directory = configuration.dataDirectory + "/postgres"
        if access == .existing, !FileManager.default.fileExists(atPath: directory + "/data/PG_VERSION") {
            throw DatabaseProblem(
                "no database in \(configuration.dataDirectory); give --data-dir or --database-url"
            )
        }
        do throws(EmbeddedClusterError) {
            let cluster = try await EmbeddedCluster.start(
                directory: directory,
                createsData: access != .existing,
                logger: logger,
                progress: progress
            )
            return AdminDatabase(
                connectionString: cluster.adminConnectionString,
                engineConnectionString: cluster.connectionString(role: .engine),
                isEmbedded: true,
                cluster: cluster
            )
        } catch {
            guard error.code == .inUse, access == .existing else { throw error }
            let running = try AttachedCluster(directory: directory)
            return AdminDatabase(
                connectionString: running.adminConnectionString,
                engineConnectionString: running.connectionString(role: .engine),
                isEmbedded: true,
                cluster: nil
            )
        }
    }

    /// Stops the cluster if this process started it.
    package func close() async { try? await cluster?.stop() }

    /// Opens a database, runs `body` on it and closes it, also after an error.
    ///
    /// - Throws: the error of `body` or of opening the database.
    package static func with<Value: Sendable>(
        _ configuration: GatewayConfiguration,
        _ access: Access,
        logger: Logger,
        progress: @escaping @Sendable (String) -> Void,
        _ body: (AdminDatabase) async throws -> Value
    ) async throws -> Value {
        let database = try await open(configuration, access, logger: logger, progress: progress)
        do {
            let value = try await body(database)
            await database.close()
            return value
        } catch {
            await database.close()
            throw error
        }
    }
}
