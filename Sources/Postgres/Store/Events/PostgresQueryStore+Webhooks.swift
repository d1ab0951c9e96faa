package import Model
import PostgresClient

/// A tenant's webhooks. The dispatcher's view of them is `WebhookStore`.
extension PostgresQueryStore {
    /// Every webhook of the tenant, oldest first.
    ///
    /// - Throws: `StoreError`.
    package func webhooks(in tenant: TenantID) async throws(StoreError) -> [WebhookFacts] {
        try await page(SubscriptionSQL.list(.id(tenant)), in: tenant, Self.webhook)
    }

    /// - Throws: `StoreError`.
    package func webhook(_ id: WebhookID, in tenant: TenantID) async throws(StoreError) -> WebhookFacts? {
        try await page(SubscriptionSQL.one(.id(tenant), .id(id)), in: tenant, Self.webhook).first
    }

    private static func webhook(_ row: Row) throws(PostgresError) -> WebhookFacts {
        WebhookFacts(
            id: try row.id("webhook_id"),
            url: try row.text("url"),
            filter: EventFilter(app: try row.optionalID("app_id"), kinds: try row.texts("kinds")),
            keyID: try row.text("key_id"),
            isActive: try row.bool("is_active"),
            order: try row.word("delivery_order"),
            createdAt: try row.time("created_at"),
            cursor: try row.int64("cursor"),
            attempts: try row.int("attempts"),
            failure: try row.optionalText("failure")
        )
    }
}
