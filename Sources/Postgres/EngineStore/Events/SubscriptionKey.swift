import Model
import PostgresClient
import Store

/// Identifies a subscription of either kind, and defines how it is claimed and what its lease contains.
protocol SubscriptionKey: Sendable {
    var tenant: TenantID { get }
    /// The first parameters of every statement about the subscription.
    var parameters: [PostgresValue] { get }

    /// The statements of a claim: the claim itself, how long the calls have been failing, and other data of the lease. The first returns a row if it succeeded.
    func claiming(_ node: NodeID, _ lease: Duration) -> [Statement]

    /// Builds the lease from the claim's row and the results of all statements.
    func lease(_ row: Row, _ results: [ResultSet]) throws(PostgresError) -> WebhookLease
}

/// Identifies a sender.
struct SenderKey: SubscriptionKey {
    var tenant: TenantID
    var scope: AppScope
    var sender: SenderID

    static func read(_ row: Row) throws(PostgresError) -> SenderKey {
        SenderKey(
            tenant: try row.id("tenant_id"),
            scope: AppScope(app: try row.id("app_id"), vendor: try row.id("vendor")),
            sender: try row.id("sender_id")
        )
    }

    var parameters: [PostgresValue] { [.id(tenant), .id(scope.app), .id(scope.vendor), .id(sender)] }

    func claiming(_ node: NodeID, _ lease: Duration) -> [Statement] {
        [
            SenderSQL.claim.with(parameters + [.id(node), .interval(lease)]),
            SenderSQL.failing.with(parameters),
            SenderSQL.settings(.id(tenant), .id(scope.app), .id(scope.vendor)),
        ]
    }

    func lease(_ row: Row, _ results: [ResultSet]) throws(PostgresError) -> WebhookLease {
        let failing = try results.result(1).only()
        let settings = try SettingsRow.read(try results.result(2), tenant: tenant)
        return WebhookLease(
            tenant: tenant,
            subscriber: .sender(
                sender,
                scope.app,
                scope.vendor,
                settings[scope.vendor] ?? BindingSettings(tenant: tenant, app: scope.app)
            ),
            url: try row.text("callback_url"),
            secret: .derived,
            epoch: try row.int64("epoch"),
            cursor: try row.int64("cursor"),
            attempts: try row.int("attempts"),
            failingFor: .milliseconds(try failing.int64("failing")),
            claimedAt: try failing.time("now")
        )
    }
}

/// Identifies a webhook.
struct WebhookKey: SubscriptionKey {
    var tenant: TenantID
    var webhook: WebhookID

    static func read(_ row: Row) throws(PostgresError) -> WebhookKey {
        WebhookKey(tenant: try row.id("tenant_id"), webhook: try row.id("webhook_id"))
    }

    var parameters: [PostgresValue] { [.id(tenant), .id(webhook)] }

    func claiming(_ node: NodeID, _ lease: Duration) -> [Statement] {
        [
            WebhookSQL.claim.with(parameters + [.id(node), .interval(lease)]),
            WebhookSQL.failing.with(parameters),
        ]
    }

    func lease(_ row: Row, _ results: [ResultSet]) throws(PostgresError) -> WebhookLease {
        let failing = try results.result(1).only()
        return WebhookLease(
            tenant: tenant,
            subscriber: .webhook(
                webhook,
                EventFilter(app: try row.optionalID("app_id"), kinds: try row.texts("kinds"))
            ),
            url: try row.text("url"),
            secret: .sealed(SealedSecret(keyID: try row.text("key_id"), bytes: try row.bytes("sealed"))),
            epoch: try row.int64("epoch"),
            cursor: try row.int64("cursor"),
            attempts: try row.int("attempts"),
            failingFor: .milliseconds(try failing.int64("failing")),
            claimedAt: try failing.time("now"),
            order: try row.word("delivery_order"),
            previous: try Self.previous(row, at: failing.time("now"))
        )
    }
}

extension WebhookKey {
    /// The former secret, if it still signs.
    private static func previous(_ row: Row, at now: Timestamp) throws(PostgresError) -> SealedSecret? {
        guard let end = try row.optionalTime("previous_until"), end > now,
            let bytes = try row.optionalBytes("previous_sealed"),
            let keyID = try row.optionalText("previous_key_id")
        else { return nil }
        return SealedSecret(keyID: keyID, bytes: bytes)
    }
}

extension WebhookLease {
    var key: any SubscriptionKey {
        switch subscriber {
        case .sender(let id, let app, let vendor, _):
            SenderKey(tenant: tenant, scope: AppScope(app: app, vendor: vendor), sender: id)
        case .webhook(let id, _): WebhookKey(tenant: tenant, webhook: id)
        }
    }
}
