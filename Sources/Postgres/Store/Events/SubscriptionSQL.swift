import PostgresClient

/// Webhooks, as their tenant reads them.
enum SubscriptionSQL {
    private static let columns =
        "webhook_id, url, app_id, kinds, key_id, is_active, delivery_order, created_at, cursor, attempts, failure"

    static let list = StoreSQL.tenant(
        "SELECT \(columns) FROM gateway.webhook WHERE tenant_id = $1 ORDER BY created_at, webhook_id"
    )

    static let one = StoreSQL.tenant(
        "SELECT \(columns) FROM gateway.webhook WHERE tenant_id = $1 AND webhook_id = $2"
    )
}
