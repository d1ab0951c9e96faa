package import Model
package import PostgresClient

/// Stores the page to which a push links. Runs after the acceptance of its message.
package struct PutPage: StoreWrite {
    let message: MessageID
    let page: PageReference
    let body: String
    let expiresAt: Timestamp

    package init(_ message: MessageID, _ page: PageReference, body: String, expiresAt: Timestamp) {
        self.message = message
        self.page = page
        self.body = body
        self.expiresAt = expiresAt
    }

    private static let sql = StoreSQL.tenant(
        """
        INSERT INTO gateway.page (tenant_id, page_id, message_id, name, body, expires_at) VALUES ($1, $2, $3, $4, $5, $6)
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .string(page.id), .id(message), .string(page.name), .string(body), .time(expiresAt))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Int { result.affectedRows }
}
