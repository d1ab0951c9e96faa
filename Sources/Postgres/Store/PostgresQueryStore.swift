package import Model
package import PostgresClient

/// Reads data for the native API and the CLI, under row-level security. Each feature adds its queries in its own folder.
package struct PostgresQueryStore: Sendable {
    let call: PostgresPool

    /// - Parameter call: the pool of `gateway_call`.
    package init(call: PostgresPool) { self.call = call }

    /// The parameters of a page of one dialect of an app.
    package static func key(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ after: String?,
        _ limit: Int
    ) -> [PostgresValue] {
        [.id(tenant), .id(scope.app), .id(scope.vendor), .string(after ?? ""), .int(max(0, limit))]
    }

    /// Reads the rows of a page.
    func page<Item>(
        _ statement: Statement,
        in tenant: TenantID,
        _ read: (Row) throws(PostgresError) -> Item
    ) async throws(StoreError) -> [Item] {
        try await asStore { () throws(PostgresError) in
            try await call.run(statement, tenant: tenant.rawValue).rows(read)
        }
    }
}
