package import Model

/// The store of webhooks over a `MemoryDatabase`.
package struct InMemorySubscriptionStore: SubscriptionStore {
    package let database: MemoryDatabase

    package init(_ database: MemoryDatabase) { self.database = database }

    package func create(_ webhook: NewWebhook, in tenant: TenantID, limit: Int) async throws(StoreError) -> Bool {
        try database.transaction { tables, now in tables.create(webhook, tenant, limit: limit, now: now) }
    }

    package func webhooks(in tenant: TenantID) async throws(StoreError) -> [WebhookFacts] {
        try database.transaction { tables, _ in tables.webhookFacts(tenant) }
    }

    package func webhook(_ id: WebhookID, in tenant: TenantID) async throws(StoreError) -> WebhookFacts? {
        try database.transaction { tables, _ in tables.webhookFacts(tenant, id) }
    }

    package func change(
        _ id: WebhookID,
        _ change: WebhookChange,
        in tenant: TenantID
    ) async throws(StoreError) -> Bool {
        try database.transaction { tables, now in tables.change(tenant, id, change, now: now) }
    }

    package func remove(_ id: WebhookID, in tenant: TenantID) async throws(StoreError) -> Bool {
        try database.transaction { tables, _ in tables.remove(tenant, id) }
    }

    package func replay(
        _ id: WebhookID,
        from offset: Int64,
        in tenant: TenantID
    ) async throws(StoreError) -> ReplayOutcome {
        try database.transaction { tables, now in tables.replay(tenant, id, from: offset, now: now) }
    }
}
