package import Model
package import PostgresClient
import Store

/// Reads the data for `doctor`, `readyz` and the metrics.
package struct PostgresStatusStore: Sendable {
    let engine: PostgresPool

    /// - Parameter engine: the pool of `gateway_engine`.
    package init(engine: PostgresPool) { self.engine = engine }

    /// Returns the server settings on which the guarantees of the gateway depend, by name.
    ///
    /// - Throws: `StoreError`.
    package func settings() async throws(StoreError) -> [String: String] {
        try await asStore { () throws(PostgresError) in
            var settings: [String: String] = [:]
            for row in try await engine.run(StatusSQL.settings(), tenant: nil) {
                settings[try row.text("name")] = try row.text("setting")
            }
            return settings
        }
    }

    /// Returns the ids of all tenants.
    ///
    /// - Throws: `StoreError`.
    package func tenants() async throws(StoreError) -> [TenantID] {
        try await asStore { () throws(PostgresError) in
            try await engine.run(MaintenanceSQL.tenants(), tenant: nil).rows { (row) throws(PostgresError) in
                try row.id("tenant_id")
            }
        }
    }

    /// Returns the status of nodes, queue, credentials and partitions.
    ///
    /// - Throws: `StoreError`.
    package func status() async throws(StoreError) -> StoreStatus {
        try await asStore { () throws(PostgresError) in
            let results = try await engine.run(
                [
                    StatusSQL.now(), StatusSQL.nodes(), StatusSQL.backlog(), StatusSQL.stopped(),
                    StatusSQL.partitions(), StatusSQL.strays(),
                ],
                tenant: nil
            )
            let partitions = try results.result(4).rows { (row) throws(PostgresError) in try row.text("relname") }
            return StoreStatus(
                nodes: try results.result(1).rows(Self.node),
                backlog: try Self.backlog(try results.result(2)),
                oldestDue: try Self.oldest(try results.result(2)),
                stoppedCredentials: try results.result(3).rows(Self.stopped),
                partitions: partitions,
                coveredUntilDay: DeliveryPartition.endDay(of: partitions.last) ?? 0,
                defaultPartitionRows: try results.result(5).only().int("rows"),
                now: try results.result(0).only().time("now")
            )
        }
    }

    private static func node(_ row: Row) throws(PostgresError) -> NodeFacts {
        NodeFacts(id: try row.id("node_id"), startedAt: try row.time("started_at"), seenAt: try row.time("seen_at"))
    }

    private static func backlog(_ result: ResultSet) throws(PostgresError) -> [Lane: Int] {
        var backlog: [Lane: Int] = [:]
        for row in result { backlog[try row.lane("lane")] = try row.int("slices") }
        return backlog
    }

    private static func oldest(_ result: ResultSet) throws(PostgresError) -> Timestamp? {
        try result.rows { (row) throws(PostgresError) in try row.optionalTime("oldest") }.compactMap(\.self).min()
    }

    private static func stopped(_ row: Row) throws(PostgresError) -> StoppedCredential {
        StoppedCredential(
            key: CredentialKey(tenant: try row.id("tenant_id"), credential: try row.id("credential_id")),
            reason: try row.text("refusal"),
            since: try row.time("refused_at")
        )
    }
}

/// The names of weekly partitions: `delivery_w2968` contains the days from 2968 × 7 on and the six days after it.
enum DeliveryPartition {
    /// The first day after the week of a partition.
    static func endDay(of name: String?) -> Int32? {
        guard let name, name.hasPrefix("delivery_w"), let week = Int32(name.dropFirst("delivery_w".count)) else {
            return nil
        }
        let (day, overflow) = (week &+ 1).multipliedReportingOverflow(by: 7)
        return overflow ? nil : day
    }
}
