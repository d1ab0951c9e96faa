import DatabaseSchema
import EmbeddedPostgres
import Foundation
package import Logging

/// A database as its administrator has it: nothing is migrated, and nothing is asked of its schema. For backups, and for what prints or checks.
package struct AdminDatabase: Sendable {
    package let connectionString: String
    /// As the engine's role, where the database has one.
    package let engineConnectionString: String
    package let isEmbedded: Bool
    /// Set when this process started the cluster and must stop it.
    private let cluster: EmbeddedCluster?

    /// What may be done about a missing or running embedded cluster.
    package enum Access {
        /// It must be there; that of a running gateway will do.
        case existing
        /// It is made when it is missing; no gateway may run on it.
        case exclusive
    }

    /// - Parameters:
    ///   - configuration: where the database is.
    ///   - access: what holds for an embedded one.
    ///   - logger: for notices of the server.
    ///   - progress: receives each step of a start as a sentence.
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
                "there is no database in \(configuration.dataDirectory): name --data-dir or --database-url"
            )
        }
        do throws(EmbeddedClusterError) {
            let cluster = try await EmbeddedCluster.start(directory: directory, logger: logger, progress: progress)
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

    /// Stops the cluster when this process started it.
    package func close() async { try? await cluster?.stop() }

    /// Opens one, runs `body` on it and closes it, whatever happens.
    ///
    /// - Throws: what `body` or the opening throws.
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
