package import Model
package import PostgresClient

/// Changes a webhook, resets its failures and ends its lease, so that a late result of an older call cannot undo the change. Returns false if the
/// webhook does not exist.
package struct ChangeWebhook: StoreWrite {
    let webhook: WebhookID
    let change: WebhookChange

    package init(_ webhook: WebhookID, _ change: WebhookChange) {
        self.webhook = webhook
        self.change = change
    }

    private static let sql = StoreSQL.tenant(
        """
        UPDATE gateway.webhook SET url = coalesce($3, url), kinds = coalesce($4::text[], kinds),
            is_active = coalesce($5, is_active), attempts = 0, failing_since = NULL, failure = NULL, next_at = now(),
            owner = NULL, epoch = epoch + 1
        WHERE tenant_id = $1 AND webhook_id = $2
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

    package func read(_ result: ResultSet) throws(PostgresError) -> Bool { result.affectedRows == 1 }
}
