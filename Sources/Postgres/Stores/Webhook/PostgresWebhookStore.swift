package import Model

/// The dispatcher's store: subscriptions are senders with a callback, their news the tenant's events.
package struct PostgresWebhookStore: WebhookStore {
    private let engine: PostgresPool

    /// - Parameter engine: the pool of `gateway_engine`.
    package init(engine: PostgresPool) { self.engine = engine }

    package func claim(
        limit: Int,
        by node: NodeID,
        lease: Duration
    ) async throws(StoreError) -> [WebhookLease] {
        try await asStore { () throws(PostgresError) in
            let due = try await engine.run(WebhookSQL.due(.int(max(0, limit))), tenant: nil)
                .rows(Subscription.read)
            guard !due.isEmpty else { return [] }
            let outcomes = try await engine.run(pipeline: due.map { Self.claiming($0, node, lease) })
            var leases: [WebhookLease] = []
            for (subscription, outcome) in zip(due, outcomes) {
                if let lease = try Self.lease(subscription, try outcome.get()) { leases.append(lease) }
            }
            return leases
        }
    }

    private static func claiming(_ subscription: Subscription, _ node: NodeID, _ lease: Duration) -> Transaction {
        Transaction(
            tenant: subscription.tenant.rawValue,
            [
                WebhookSQL.claim.with(subscription.key + [.id(node), .interval(lease)]),
                WebhookSQL.failing.with(subscription.key),
                WebhookSQL.settings(.id(subscription.tenant), .id(subscription.app), .id(subscription.vendor)),
            ]
        )
    }

    /// Nil when another node was faster.
    private static func lease(
        _ subscription: Subscription,
        _ results: [ResultSet]
    ) throws(PostgresError) -> WebhookLease? {
        guard let row = try results.result(0).first else { return nil }
        let settings = try SettingsRow.read(try results.result(2), tenant: subscription.tenant)
        return WebhookLease(
            tenant: subscription.tenant,
            app: subscription.app,
            vendor: subscription.vendor,
            sender: subscription.sender,
            url: try row.text("callback_url"),
            secret: try row.text("secret"),
            epoch: try row.int64("epoch"),
            cursor: try row.int64("cursor"),
            attempts: try row.int("attempts"),
            failingFor: .milliseconds(try results.result(1).only().int64("failing")),
            settings: settings[subscription.vendor]
                ?? BindingSettings(tenant: subscription.tenant, app: subscription.app)
        )
    }

    package func batch(for lease: WebhookLease, limit: Int) async throws(StoreError) -> WebhookBatch {
        let limit = max(1, limit)
        return try await asStore { () throws(PostgresError) in
            // One more than asked for says whether more wait.
            let statement = WebhookSQL.batch.with(Subscription(lease).key + [.int64(lease.cursor), .int(limit + 1)])
            let result = try await engine.run(statement, tenant: nil)
            var batch = WebhookBatch(deliveries: [], cursor: lease.cursor, hasMore: result.count > limit)
            var seen: Set<TargetKey> = []
            for row in result.prefix(limit) {
                batch.cursor = try row.int64("position")
                // Its partition or message may have been dropped meanwhile.
                guard try !row.isNull("message_id"), try !row.isNull("is_reserved") else { continue }
                var snapshot = try SnapshotRow.read(row)
                snapshot.address = try row.address("name")
                guard seen.insert(TargetKey(message: snapshot.message, target: snapshot.target)).inserted else {
                    continue
                }
                batch.deliveries.append(snapshot)
            }
            return batch
        }
    }

    package func advance(
        _ lease: WebhookLease,
        to cursor: Int64,
        by node: NodeID
    ) async throws(StoreError) -> Bool {
        try await asStore { () throws(PostgresError) in
            let statement = WebhookSQL.advance.with(
                Subscription(lease).key + [.id(node), .int64(lease.epoch), .int64(cursor)]
            )
            return try await engine.run(statement, tenant: nil).affectedRows == 1
        }
    }

    package func postpone(
        _ lease: WebhookLease,
        by delay: Duration,
        reason: String,
        node: NodeID
    ) async throws(StoreError) {
        try await asStore { () throws(PostgresError) in
            let statement = WebhookSQL.postpone.with(
                Subscription(lease).key + [.id(node), .int64(lease.epoch), .string(reason), .interval(delay)]
            )
            _ = try await engine.run(statement, tenant: nil)
        }
    }
}

/// Which delivery: a batch shows each once, in its latest state.
private struct TargetKey: Hashable {
    var message: MessageID
    var target: TargetID
}

/// Which sender.
private struct Subscription {
    var tenant: TenantID
    var app: AppID
    var vendor: Vendor
    var sender: SenderID

    init(tenant: TenantID, app: AppID, vendor: Vendor, sender: SenderID) {
        self.tenant = tenant
        self.app = app
        self.vendor = vendor
        self.sender = sender
    }

    init(_ lease: WebhookLease) {
        self.init(tenant: lease.tenant, app: lease.app, vendor: lease.vendor, sender: lease.sender)
    }

    static func read(_ row: Row) throws(PostgresError) -> Subscription {
        Subscription(
            tenant: try row.id("tenant_id"),
            app: try row.id("app_id"),
            vendor: try row.id("vendor"),
            sender: try row.id("sender_id")
        )
    }

    /// The first four parameters of every statement about it.
    var key: [PostgresValue] { [.id(tenant), .id(app), .id(vendor), .id(sender)] }
}
