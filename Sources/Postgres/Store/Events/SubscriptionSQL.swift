import PostgresClient

/// Webhooks, as their tenant creates, changes and removes them.
enum SubscriptionSQL {
    static let create = StoreSQL.function("create_webhook", 9, columns: "create_webhook AS created")

    private static let columns =
        "webhook_id, url, app_id, kinds, key_id, is_active, created_at, cursor, attempts, failure"

    static let list = StoreSQL.tenant(
        "SELECT \(columns) FROM gateway.webhook WHERE tenant_id = $1 ORDER BY created_at, webhook_id"
    )

    static let one = StoreSQL.tenant(
        "SELECT \(columns) FROM gateway.webhook WHERE tenant_id = $1 AND webhook_id = $2"
    )

    static let change = StoreSQL.tenant(
        """
        UPDATE gateway.webhook SET url = coalesce($3, url), kinds = coalesce($4::text[], kinds),
            is_active = coalesce($5, is_active), attempts = 0, failing_since = NULL, failure = NULL, next_at = now(),
            owner = NULL, epoch = epoch + 1
        WHERE tenant_id = $1 AND webhook_id = $2
        """
    )

    static let remove = StoreSQL.tenant("DELETE FROM gateway.webhook WHERE tenant_id = $1 AND webhook_id = $2")
    static let replay = StoreSQL.function("replay_webhook", 3)
}
