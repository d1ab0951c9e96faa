package import Model
package import PostgresClient
import Store

/// Stores the dispatcher's data. Its subscriptions are senders with a callback and webhooks, and their input is the tenant's events.
package struct PostgresWebhookStore: WebhookStore {
    private let engine: PostgresPool

    /// - Parameter engine: the pool of `gateway_engine`.
    package init(engine: PostgresPool) { self.engine = engine }

    /// 512 due subscriptions of each kind are offered at once: eight times the calls of a node.
    private static let offerLimit = 512

    package func claim(
        limit: Int,
        by node: NodeID,
        lease: Duration,
        choosing choose: @Sendable ([DueSubscription]) -> [Int]
    ) async throws(StoreError) -> [WebhookLease] {
        try await asStore { () throws(PostgresError) in
            let limit = max(0, limit)
            let bounds: [PostgresValue] = [.int(Self.offerLimit), .int(max(1, limit))]
            let senders = try await engine.run(SenderSQL.due.with(bounds), tenant: nil).rows {
                (row) throws(PostgresError) in
                (try SenderKey.read(row) as any SubscriptionKey, try row.text("url"))
            }
            let webhooks = try await engine.run(WebhookSQL.due.with(bounds), tenant: nil).rows {
                (row) throws(PostgresError) in
                (try WebhookKey.read(row) as any SubscriptionKey, try row.text("url"))
            }
            // Alternates between both kinds, so that neither starves the other.
            var offered: [(key: any SubscriptionKey, url: String)] = []
            for index in 0..<max(senders.count, webhooks.count) {
                if senders.indices.contains(index) { offered.append(senders[index]) }
                if webhooks.indices.contains(index) { offered.append(webhooks[index]) }
            }
            let due = choose(offered.map { DueSubscription(tenant: $0.key.tenant, url: $0.url) }).prefix(limit)
                .map { offered[$0].key }
            guard !due.isEmpty else { return [] }
            let outcomes = try await engine.run(
                pipeline: due.map { Transaction(tenant: $0.tenant.rawValue, $0.claiming(node, lease)) }
            )
            var leases: [WebhookLease] = []
            for (key, outcome) in zip(due, outcomes) {
                let results = try outcome.get()
                // No row: another node claimed it first.
                guard let row = try results.result(0).first else { continue }
                leases.append(try key.lease(row, results))
            }
            return leases
        }
    }

    package func batch(for lease: WebhookLease, limit: Int) async throws(StoreError) -> WebhookBatch {
        let limit = max(1, limit)
        return try await asStore { () throws(PostgresError) in
            switch lease.subscriber {
            case .sender: return try await deliveries(for: lease, limit: limit)
            case .webhook(_, let filter): return try await events(for: lease, filter, limit: limit)
            }
        }
    }

    private func deliveries(for lease: WebhookLease, limit: Int) async throws(PostgresError) -> WebhookBatch {
        // One more than requested, which shows whether more events wait.
        let statement = SenderSQL.batch.with(lease.key.parameters + [.int64(lease.cursor), .int(limit + 1)])
        let result = try await engine.run(Transaction(tenant: nil, [statement], flushes: true)).result(0)
        var batch = WebhookBatch(cursor: lease.cursor, hasMore: result.count > limit)
        var seen: Set<TargetKey> = []
        for row in result.prefix(limit) {
            batch.cursor = try row.int64("position")
            // Its partition or message may have been dropped meanwhile.
            guard try !row.isNull("message_id"), try !row.isNull("is_reserved") else { continue }
            var snapshot = try SnapshotRow.read(row)
            snapshot.address = try row.address("name")
            guard seen.insert(TargetKey(message: snapshot.message, target: snapshot.target)).inserted else { continue }
            batch.deliveries.append(snapshot)
        }
        return batch
    }

    private func events(
        for lease: WebhookLease,
        _ filter: EventFilter,
        limit: Int
    ) async throws(PostgresError) -> WebhookBatch {
        let statements = EventRow.statements(lease.tenant, filter, after: lease.cursor, limit: limit)
        let page = try EventRow.page(
            try await engine.run(Transaction(tenant: nil, statements, flushes: true)),
            after: lease.cursor,
            limit: limit
        )
        return WebhookBatch(
            events: page.events,
            generation: page.generation,
            cursor: page.through,
            hasMore: page.head > page.through
        )
    }

    package func advance(
        _ lease: WebhookLease,
        to cursor: Int64,
        by node: NodeID
    ) async throws(StoreError) -> Bool {
        try await asStore { () throws(PostgresError) in
            let sql = lease.webhook == nil ? SenderSQL.advance : WebhookSQL.advance
            let statement = sql.with(lease.key.parameters + [.id(node), .int64(lease.epoch), .int64(cursor)])
            return try await engine.run(statement, tenant: nil).affectedRows == 1
        }
    }

    package func postpone(
        _ lease: WebhookLease,
        at cursor: Int64,
        by delay: Duration,
        reason: String,
        node: NodeID
    ) async throws(StoreError) {
        try await asStore { () throws(PostgresError) in
            let sql = lease.webhook == nil ? SenderSQL.postpone : WebhookSQL.postpone
            let parameters =
                lease.key.parameters + [
                    .id(node), .int64(lease.epoch), .string(reason), .interval(delay), .int64(cursor),
                ]
            _ = try await engine.run(sql.with(parameters), tenant: nil)
        }
    }

    package func stop(_ lease: WebhookLease, reason: String, node: NodeID) async throws(StoreError) {
        guard lease.webhook != nil else { return }
        try await asStore { () throws(PostgresError) in
            let parameters = lease.key.parameters + [.id(node), .int64(lease.epoch), .string(reason)]
            _ = try await engine.run(WebhookSQL.stop.with(parameters), tenant: nil)
        }
    }
}

/// Identifies a delivery: a sender's batch contains each delivery once, in its latest state.
private struct TargetKey: Hashable {
    var message: MessageID
    var target: TargetID
}
