package import Model
package import PostgresClient
package import Store

/// Returns the templates of an app after a name, in byte order of their names.
package struct ListTemplates: StoreRead {
    let app: AppID
    let after: String?
    let limit: Int

    package init(_ app: AppID, after: String?, limit: Int) {
        self.app = app
        self.after = after
        self.limit = limit
    }

    private static let sql = StoreSQL.tenant(
        """
        SELECT \(MessageTemplate.columns) FROM gateway.message_template t
        WHERE t.tenant_id = $1 AND t.app_id = $2 AND ($3::text IS NULL OR t.name COLLATE "C" > $3)
        ORDER BY t.name COLLATE "C" LIMIT $4
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(app), .string(after), .int(limit))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> [MessageTemplate] {
        try result.rows(MessageTemplate.read)
    }
}
