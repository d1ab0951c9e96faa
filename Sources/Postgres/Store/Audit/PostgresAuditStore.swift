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

    /// Returns a tenant's entries before `position`, newest first.
    ///
    /// - Throws: `StoreError`.
    package func entries(
        in tenant: TenantID,
        before position: Int64,
        limit: Int
    ) async throws(StoreError) -> [AuditEntry] {
        try await read(AuditSQL.before(.id(tenant), .int64(position), .int(max(0, limit))), tenant)
    }

    /// Returns a tenant's last entries, in order.
    ///
    /// - Throws: `StoreError`.
    package func newest(_ limit: Int, in tenant: TenantID) async throws(StoreError) -> [AuditEntry] {
        try await read(AuditSQL.newest(.id(tenant), .int(max(0, limit))), tenant).reversed()
    }

    /// Returns a tenant's last entries about a subject, in order: `user kim`, `phone 01012345678`, `app shop`.
    ///
    /// - Throws: `StoreError`.
    package func newest(
        _ limit: Int,
        about subject: String,
        in tenant: TenantID
    ) async throws(StoreError) -> [AuditEntry] {
        try await read(AuditSQL.about(.id(tenant), .string(subject), .int(max(0, limit))), tenant).reversed()
    }

    /// Returns the counts of the last comparison of an export with the devices of an app in a dialect, and its time. Nil: there was none within `period`,
    /// so that nothing is known.
    ///
    /// - Throws: `StoreError`.
    package func comparison(
        _ scope: AppScope,
        in tenant: TenantID,
        within period: Duration = ComparisonSummary.usableFor
    ) async throws(StoreError) -> (at: Timestamp, summary: ComparisonSummary)? {
        let statement = AuditSQL.comparison(
            .id(tenant),
            .string(AuditRecord.devices(of: scope)),
            .interval(period)
        )
        return try await asStore { () throws(PostgresError) in
            for row in try await call.run(statement, tenant: tenant.rawValue) {
                guard let summary = try row.optionalDocument("data").flatMap({ ComparisonSummary($0) }) else {
                    continue
                }
                return (at: try row.time("at"), summary: summary)
            }
            return nil
        }
    }

    /// Returns a tenant's rows after `position` as their digests cover them, in order.
    ///
    /// - Throws: `StoreError`.
    package func links(
        in tenant: TenantID,
        after position: Int64,
        limit: Int
    ) async throws(StoreError) -> [AuditLink] {
        try await asStore { () throws(PostgresError) in
            try await call.run(
                AuditSQL.links(.id(tenant), .int64(position), .int(max(0, limit))),
                tenant: tenant.rawValue
            ).rows { (row) throws(PostgresError) in try AuditLink(row) }
        }
    }

    /// Returns a tenant's checkpoints after `position`, in order.
    ///
    /// - Throws: `StoreError`.
    package func checkpoints(
        in tenant: TenantID,
        after position: Int64,
        limit: Int
    ) async throws(StoreError) -> [AuditCheckpoint] {
        try await asStore { () throws(PostgresError) in
            try await call.run(
                AuditSQL.checkpoints(.id(tenant), .int64(position), .int(max(0, limit))),
                tenant: tenant.rawValue
            ).rows { (row) throws(PostgresError) in try AuditCheckpoint(row) }
        }
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
