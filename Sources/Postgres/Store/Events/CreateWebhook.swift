package import Model
package import PostgresClient

/// Stores a webhook, which starts at the tenant's current offset. Returns false if the tenant has `limit` webhooks already.
package struct CreateWebhook: StoreWrite {
    let webhook: NewWebhook
    let limit: Int

    package init(_ webhook: NewWebhook, limit: Int) {
        self.webhook = webhook
        self.limit = limit
    }

    private static let sql = StoreSQL.function("create_webhook", 10, columns: "create_webhook AS created")

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(
            .id(call.tenant),
            .id(webhook.id),
            .string(webhook.url),
            .id(webhook.filter.app),
            .strings(webhook.filter.kinds),
            .bytes(webhook.secret.bytes),
            .string(webhook.secret.keyID),
            .bool(webhook.isActive),
            .int32(Int32(clamping: limit)),
            .string(webhook.order.rawValue)
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Bool { try result.only().bool("created") }
}
