package import Model
package import PostgresClient

/// Manages the webhooks of a tenant, under row-level security.
package struct PostgresSubscriptionStore: SubscriptionStore {
    private let call: PostgresPool

    /// - Parameter call: the pool of `gateway_call`.
    package init(call: PostgresPool) { self.call = call }

    package func create(
        _ webhook: NewWebhook,
        in tenant: TenantID,
        limit: Int
    ) async throws(StoreError) -> Bool {
        let statement = SubscriptionSQL.create(
            .id(tenant),
            .id(webhook.id),
            .string(webhook.url),
            .id(webhook.filter.app),
            .strings(webhook.filter.kinds),
            .bytes(webhook.secret.bytes),
            .string(webhook.secret.keyID),
            .bool(webhook.isActive),
            .int32(Int32(clamping: limit))
        )
        return try await asStore { () throws(PostgresError) in
            try await call.run(statement, tenant: tenant.rawValue).only().bool("created")
        }
    }

    package func webhooks(in tenant: TenantID) async throws(StoreError) -> [WebhookFacts] {
        try await asStore { () throws(PostgresError) in
            try await call.run(SubscriptionSQL.list(.id(tenant)), tenant: tenant.rawValue).rows(Self.facts)
        }
    }

    package func webhook(_ id: WebhookID, in tenant: TenantID) async throws(StoreError) -> WebhookFacts? {
        try await asStore { () throws(PostgresError) in
            let statement = SubscriptionSQL.one(.id(tenant), .id(id))
            return try await call.run(statement, tenant: tenant.rawValue).rows(Self.facts).first
        }
    }

    package func change(
        _ id: WebhookID,
        _ change: WebhookChange,
        in tenant: TenantID
    ) async throws(StoreError) -> Bool {
        let statement = SubscriptionSQL.change(
            .id(tenant),
            .id(id),
            .string(change.url),
            change.kinds.map { .strings($0) } ?? .null,
            .bool(change.isActive)
        )
        return try await changed(statement, tenant)
    }

    package func remove(_ id: WebhookID, in tenant: TenantID) async throws(StoreError) -> Bool {
        try await changed(SubscriptionSQL.remove(.id(tenant), .id(id)), tenant)
    }

    private func changed(_ statement: Statement, _ tenant: TenantID) async throws(StoreError) -> Bool {
        try await asStore { () throws(PostgresError) in
            try await call.run(statement, tenant: tenant.rawValue).affectedRows == 1
        }
    }

    package func replay(
        _ id: WebhookID,
        from offset: Int64,
        in tenant: TenantID
    ) async throws(StoreError) -> ReplayOutcome {
        try await asStore { () throws(PostgresError) in
            let statement = SubscriptionSQL.replay(.id(tenant), .id(id), .int64(offset))
            let row = try await call.run(statement, tenant: tenant.rawValue).only()
            switch try row.text("outcome") {
            case "moved": return .moved
            case "outside":
                return .outside(EventBounds(first: try row.int64("first"), head: try row.int64("head")))
            default: return .unknown
            }
        }
    }

    private static func facts(_ row: Row) throws(PostgresError) -> WebhookFacts {
        WebhookFacts(
            id: try row.id("webhook_id"),
            url: try row.text("url"),
            filter: EventFilter(app: try row.optionalID("app_id"), kinds: try row.texts("kinds")),
            keyID: try row.text("key_id"),
            isActive: try row.bool("is_active"),
            createdAt: try row.time("created_at"),
            cursor: try row.int64("cursor"),
            attempts: try row.int("attempts"),
            failure: try row.optionalText("failure")
        )
    }
}
