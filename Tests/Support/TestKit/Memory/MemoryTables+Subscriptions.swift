import Model

// Webhooks as their tenant makes them.
extension MemoryTables {
    mutating func create(_ webhook: NewWebhook, _ tenant: TenantID, limit: Int, now: Timestamp) -> Bool {
        guard webhooks.keys.count(where: { $0.tenant == tenant }) < limit else { return false }
        let queue = CallbackRow(url: webhook.url, cursor: Int64(events[tenant]?.count ?? 0), nextAt: now)
        webhooks[Scoped(tenant, webhook.id)] = WebhookRow(webhook: webhook, createdAt: now, queue: queue)
        return true
    }

    func webhookFacts(_ tenant: TenantID) -> [WebhookFacts] {
        webhooks.filter { $0.key.tenant == tenant }.map { $0.value }
            .sorted { ($0.createdAt, $0.webhook.id) < ($1.createdAt, $1.webhook.id) }.map(shown)
    }

    func webhookFacts(_ tenant: TenantID, _ id: WebhookID) -> WebhookFacts? {
        webhooks[Scoped(tenant, id)].map(shown)
    }

    private func shown(_ row: WebhookRow) -> WebhookFacts {
        WebhookFacts(
            id: row.webhook.id,
            url: row.webhook.url,
            filter: row.webhook.filter,
            keyID: row.webhook.secret.keyID,
            isActive: row.webhook.isActive,
            createdAt: row.createdAt,
            cursor: row.queue.cursor,
            attempts: row.queue.attempts,
            failure: row.queue.lastReason
        )
    }

    /// Ends the lease, too: an older call's bookkeeping must not undo what the tenant said.
    mutating func change(_ tenant: TenantID, _ id: WebhookID, _ change: WebhookChange, now: Timestamp) -> Bool {
        guard var row = webhooks[Scoped(tenant, id)] else { return false }
        row.webhook.url = change.url ?? row.webhook.url
        row.webhook.filter.kinds = change.kinds ?? row.webhook.filter.kinds
        row.webhook.isActive = change.isActive ?? row.webhook.isActive
        row.queue.epoch += 1
        row.queue.forgive(now: now)
        webhooks[Scoped(tenant, id)] = row
        return true
    }

    mutating func remove(_ tenant: TenantID, _ id: WebhookID) -> Bool {
        webhooks.removeValue(forKey: Scoped(tenant, id)) != nil
    }

    mutating func replay(_ tenant: TenantID, _ id: WebhookID, from offset: Int64, now: Timestamp) -> ReplayOutcome {
        let bounds = EventBounds(first: 0, head: Int64(events[tenant]?.count ?? 0))
        guard offset >= bounds.first, offset <= bounds.head else { return .outside(bounds) }
        guard webhooks[Scoped(tenant, id)] != nil else { return .unknown }
        webhooks[Scoped(tenant, id)]?.queue.cursor = offset
        webhooks[Scoped(tenant, id)]?.queue.epoch += 1
        webhooks[Scoped(tenant, id)]?.queue.forgive(now: now)
        return .moved
    }
}
