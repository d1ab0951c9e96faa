package import DatabaseSchema
package import EmbeddedPostgres
package import PostgresClient

/// One database of the test cluster.
package struct TestDatabase: Sendable {
    package let name: String
    package let cluster: EmbeddedCluster
    /// Sees what the pools of a migrated database are asked.
    package let inspector: StatementInspector?

    package func configuration(_ role: GatewayRole) -> PostgresConfiguration {
        var configuration = TestCluster.configuration(cluster.connectionString(role: role, database: name))
        if let inspector { configuration.inspect = { inspector.inspect($0) } }
        return configuration
    }

    package func pool(_ role: GatewayRole, limits: PoolLimits = .patient()) -> PostgresPool {
        PostgresPool(configuration(role), limits: limits, logger: TestCluster.logger)
    }

    /// The superuser's, as an operator names a database of their own.
    package var adminConnectionString: String { cluster.adminConnectionString(database: name) }

    /// The superuser: row-level security does not apply.
    package func admin() async throws -> PostgresConnection {
        try await PostgresConnection.connect(
            TestCluster.configuration(adminConnectionString),
            logger: TestCluster.logger
        )
    }
}

extension PoolLimits {
    /// A call waits for its session however slow the machine is: what is tested is not speed.
    package static func patient(maximumConnections: Int = PoolLimits().maximumConnections) -> PoolLimits {
        var limits = PoolLimits(maximumConnections: maximumConnections)
        limits.waitTimeout = .seconds(120)
        return limits
    }
}

extension PostgresConnection {
    /// One statement of no tenant.
    package func query(_ sql: String, _ parameters: [PostgresValue] = []) async throws -> ResultSet {
        let results = try await run(Transaction(tenant: nil, [Statement(sql, parameters)]))
        guard let result = results.first else { throw PostgresError(.unexpectedRowCount) }
        return result
    }
}
