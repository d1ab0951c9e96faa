package import Model

/// The webhook store over a `MemoryDatabase`.
package struct InMemoryWebhookStore: WebhookStore {
    package let database: MemoryDatabase

    package init(_ database: MemoryDatabase) { self.database = database }

    package func claim(limit: Int, by node: NodeID, lease: Duration) async throws(StoreError) -> [WebhookLease] {
        try database.transaction { tables, now in
            tables.claimCallbacks(limit: limit, by: node, lease: lease, now: now)
        }
    }

    package func batch(for lease: WebhookLease, limit: Int) async throws(StoreError) -> WebhookBatch {
        try database.transaction { tables, _ in tables.batch(lease, limit: limit) }
    }

    package func advance(_ lease: WebhookLease, to cursor: Int64, by node: NodeID) async throws(StoreError) -> Bool {
        try database.transaction { tables, now in tables.advance(lease, to: cursor, by: node, now: now) }
    }

    package func postpone(
        _ lease: WebhookLease,
        by delay: Duration,
        reason: String,
        node: NodeID
    ) async throws(StoreError) {
        try database.transaction { tables, now in
            tables.postpone(lease, by: delay, reason: reason, node: node, now: now)
        }
    }

    package func stop(_ lease: WebhookLease, reason: String, node: NodeID) async throws(StoreError) {
        try database.transaction { tables, _ in tables.stop(lease, reason: reason, node: node) }
    }
}
