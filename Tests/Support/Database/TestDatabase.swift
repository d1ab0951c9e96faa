package import DatabaseSchema
package import EmbeddedPostgres
package import PostgresClient

/// One database of the test cluster.
package struct TestDatabase: Sendable {
    package let name: String
    package let cluster: EmbeddedCluster
    /// Observes the statements of the pools of a migrated database.
    package let inspector: StatementInspector?

    package func configuration(_ role: GatewayRole) -> PostgresConfiguration {
        var configuration = TestCluster.configuration(cluster.connectionString(role: role, database: name))
        if let inspector { configuration.inspect = { inspector.inspect($0, as: role) } }
        return configuration
    }

    package func pool(_ role: GatewayRole, limits: PoolLimits = .patient()) -> PostgresPool {
        PostgresPool(configuration(role), limits: limits, logger: TestCluster.logger)
    }

    /// The superuser's connection string, as an operator would write it for an external database.
    package var adminConnectionString: String { cluster.adminConnectionString(database: name) }

    /// A connection of the superuser, to whom row-level security does not apply.
    package func admin(statementTimeout: Duration? = nil) async throws -> PostgresConnection {
        var configuration = TestCluster.configuration(adminConnectionString)
        if let statementTimeout { configuration.statementTimeout = statementTimeout }
        return try await PostgresConnection.connect(configuration, logger: TestCluster.logger)
    }
}

extension PoolLimits {
    /// Limits with a long waiting time for a session, because speed is not tested.
    package static func patient(maximumConnections: Int = PoolLimits().maximumConnections) -> PoolLimits {
        var limits = PoolLimits()
        limits.maximumConnections = maximumConnections
        limits.waitTimeout = .seconds(300)
        return limits
    }
}

extension PostgresConnection {
    /// Runs one statement without a tenant.
    package func query(_ sql: String, _ parameters: [PostgresValue] = []) async throws -> ResultSet {
        let results = try await run(Transaction(tenant: nil, [Statement(sql, parameters)]))
        guard let result = results.first else { throw PostgresError(.unexpectedRowCount) }
        return result
    }
}
