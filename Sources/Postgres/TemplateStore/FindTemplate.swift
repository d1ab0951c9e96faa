package import Model
package import PostgresClient
package import Store

/// Finds a template by its name.
package struct FindTemplate: StoreRead {
    let app: AppID
    let name: String

    package init(_ app: AppID, name: String) {
        self.app = app
        self.name = name
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.tenant(
        """
        SELECT \(MessageTemplate.columns) FROM gateway.message_template t
        WHERE t.tenant_id = $1 AND t.app_id = $2 AND t.name = $3
        """
    )

    package func statement(_ call: StoreCall) -> Statement { Self.sql(.id(call.tenant), .id(app), .string(name)) }

    package func read(_ result: ResultSet) throws(PostgresError) -> MessageTemplate? {
        try result.rows(MessageTemplate.read).first
    }
}
