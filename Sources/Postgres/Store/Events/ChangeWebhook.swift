package import Model
package import PostgresClient

/// Changes a webhook, resets its failures and ends its lease, so that a late result of an older call cannot undo the change. Returns its
/// settings before the change; nil if the webhook does not exist.
package struct ChangeWebhook: StoreWrite {
    let webhook: WebhookID
    let change: WebhookChange

    package init(_ webhook: WebhookID, _ change: WebhookChange) {
        self.webhook = webhook
        self.change = change
    }

    private static let sql = StoreSQL.tenant(
        """
        UPDATE gateway.webhook w SET url = coalesce($3, w.url), kinds = coalesce($4::text[], w.kinds),
            is_active = coalesce($5, w.is_active), attempts = 0, failing_since = NULL, failure = NULL, next_at = now(),
            owner = NULL, epoch = w.epoch + 1
        FROM gateway.webhook o
        WHERE w.tenant_id = $1 AND w.webhook_id = $2 AND o.tenant_id = $1 AND o.webhook_id = w.webhook_id
        RETURNING o.url, o.kinds, o.is_active
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(
            .id(call.tenant),
            .id(webhook),
            .string(change.url),
            change.kinds.map { .strings($0) } ?? .null,
            .bool(change.isActive)
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> WebhookChange? {
        guard let row = result.first else { return nil }
        return WebhookChange(
            url: try row.text("url"),
            kinds: try row.optionalTexts("kinds"),
            isActive: try row.bool("is_active")
        )
    }
}
