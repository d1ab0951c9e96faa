import PostgresClient

/// The audit: written by one function, read in pages, and never changed.
enum AuditSQL {
    private static let columns = "position, at, actor, action, subject, data"

    /// Parallel arrays of actions, subjects and data, so that several acts of one transaction need one statement.
    static let write = StoreSQL.function("write_audit", 5, columns: "write_audit AS position")

    static let page = StoreSQL.tenant(
        "SELECT \(columns) FROM gateway.audit WHERE tenant_id = $1 AND position > $2 ORDER BY position LIMIT $3"
    )

    /// The last rows, newest first.
    static let newest = StoreSQL.tenant(
        "SELECT \(columns) FROM gateway.audit WHERE tenant_id = $1 ORDER BY position DESC LIMIT $2"
    )
}
