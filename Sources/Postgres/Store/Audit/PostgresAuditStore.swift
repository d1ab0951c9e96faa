package import Model
package import PostgresClient

/// Reads the audit: the rows of one tenant, under row-level security, for the tenant or for an operator's command.
package struct PostgresAuditStore: Sendable {
    private let call: PostgresPool

    /// - Parameter call: the pool of `gateway_call`.
    package init(call: PostgresPool) { self.call = call }

    /// Returns a tenant's entries after `position`, in order.
    ///
    /// - Throws: `StoreError`.
    package func entries(
        in tenant: TenantID,
        after position: Int64,
        limit: Int
    ) async throws(StoreError) -> [AuditEntry] {
        try await read(AuditSQL.page(.id(tenant), .int64(position), .int(max(0, limit))), tenant)
    }

    /// Returns a tenant's last entries, in order.
    ///
    /// - Throws: `StoreError`.
    package func newest(_ limit: Int, in tenant: TenantID) async throws(StoreError) -> [AuditEntry] {
        try await read(AuditSQL.newest(.id(tenant), .int(max(0, limit))), tenant).reversed()
    }

    private func read(_ statement: Statement, _ tenant: TenantID) async throws(StoreError) -> [AuditEntry] {
        try await asStore { () throws(PostgresError) in
            try await call.run(statement, tenant: tenant.rawValue).rows { (row) throws(PostgresError) in
                AuditEntry(
                    position: try row.int64("position"),
                    at: try row.time("at"),
                    actor: try row.text("actor"),
                    action: try row.text("action"),
                    subject: try row.text("subject"),
                    data: try row.optionalDocument("data")
                )
            }
        }
    }
}
