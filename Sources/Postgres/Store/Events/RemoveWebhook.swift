package import Model
package import PostgresClient

/// Removes a webhook. Returns false if it does not exist.
package struct RemoveWebhook: StoreWrite {
    let webhook: WebhookID

    package init(_ webhook: WebhookID) { self.webhook = webhook }

    private static let sql = StoreSQL.tenant("DELETE FROM gateway.webhook WHERE tenant_id = $1 AND webhook_id = $2")

    package func statement(_ call: StoreCall) -> Statement { Self.sql(.id(call.tenant), .id(webhook)) }

    package func read(_ result: ResultSet) throws(PostgresError) -> Bool { result.affectedRows == 1 }
}
