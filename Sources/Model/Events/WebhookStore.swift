/// The store of the dispatcher of outgoing calls.
///
/// An implementation must return a subscription's events in the order of the tenant's event offsets, without gaps. `cursor` moves only by
/// `advance` and `postpone`. A lease prevents two nodes from calling for one subscription at the same time, and any node may claim an expired one. `advance`, `postpone`
/// and `stop` end the lease; waiting events need a new claim. A new subscription starts at the tenant's current offset; a changed URL keeps its
/// cursor.
package protocol WebhookStore: Sendable {
    /// Subscriptions with events after their cursor whose next try is due, now leased to `node`.
    ///
    /// `choose` receives due subscriptions of all tenants and returns the indices of those to lease, at most `limit`, the most urgent first. An
    /// implementation must offer subscriptions of every tenant that has one, and of each tenant those of every host. It calls `choose` with an empty
    /// list when nothing is due.
    ///
    /// - Throws: `StoreError`.
    func claim(
        limit: Int,
        by node: NodeID,
        lease: Duration,
        choosing choose: @Sendable ([DueSubscription]) -> [Int]
    ) async throws(StoreError) -> [WebhookLease]

    /// Returns the events after the cursor, oldest first, at most `limit` entries: for a sender, the latest state of each delivery that changed; for a
    /// webhook, every event that its filter selects.
    ///
    /// - Throws: `StoreError`.
    func batch(for lease: WebhookLease, limit: Int) async throws(StoreError) -> WebhookBatch

    /// The calls up to `cursor` succeeded: moves the cursor and resets the failures. Returns false when the lease was lost.
    ///
    /// - Throws: `StoreError`.
    func advance(_ lease: WebhookLease, to cursor: Int64, by node: NodeID) async throws(StoreError) -> Bool

    /// A call failed: retries after `delay`. `cursor` is the offset up to which everything was delivered nevertheless. If it is after the cursor of the
    /// lease, the subscription made progress, and this failure counts as the first one.
    ///
    /// - Throws: `StoreError`.
    func postpone(
        _ lease: WebhookLease,
        at cursor: Int64,
        by delay: Duration,
        reason: String,
        node: NodeID
    ) async throws(StoreError)

    /// The calls have failed for too long: the webhook is not called any longer until its tenant enables it. Its cursor stays.
    ///
    /// - Throws: `StoreError`.
    func stop(_ lease: WebhookLease, reason: String, node: NodeID) async throws(StoreError)
}

extension WebhookStore {
    /// Claims the first due subscriptions.
    package func claim(limit: Int, by node: NodeID, lease: Duration) async throws(StoreError) -> [WebhookLease] {
        try await claim(limit: limit, by: node, lease: lease) { Array($0.indices.prefix(limit)) }
    }
}

/// A subscription that could be called now.
package struct DueSubscription: Sendable, Hashable {
    package var tenant: TenantID
    /// The receiver's host and port, in lower case: concurrent calls are limited by it.
    package var host: String

    package init(tenant: TenantID, url: String) {
        self.tenant = tenant
        let start = url.firstRange(of: "://")?.upperBound ?? url.startIndex
        host = url[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }.lowercased()
    }
}

/// The receiver of calls. Both kinds have a cursor into the tenant's events, a lease and a count of failures.
package enum Subscriber: Sendable, Hashable {
    /// A back end that its vendor requires to register: it receives its own deliveries, in that vendor's dialect.
    case sender(SenderID, AppID, Vendor, BindingSettings)
    /// A webhook that the tenant created: it receives the events that its filter selects.
    case webhook(WebhookID, EventFilter)
}

/// The secret that signs a subscription's calls.
package enum CallSecret: Sendable, Hashable {
    /// A sender's secret, derived from the master key and the sender's names. It is not stored.
    case derived
    /// A webhook's secret, which the tenant received.
    case sealed(SealedSecret)
}

/// A subscription that is leased to this node.
package struct WebhookLease: Sendable, Hashable {
    package var tenant: TenantID
    package var subscriber: Subscriber
    package var url: String
    package var secret: CallSecret
    package var epoch: Int64
    /// The tenant's event offset up to which everything was delivered.
    package var cursor: Int64
    /// Consecutive failures.
    package var attempts: Int
    /// How long ago the first of them happened, on the database's clock.
    package var failingFor: Duration
    /// When the subscription was claimed, on the database's clock. Its calls are signed with this time.
    package var claimedAt: Timestamp
    /// The order of a webhook's events. A sender's calls follow the log.
    package var order: WebhookOrder
    /// The secret before the last rotation, while it still signs next to `secret`.
    package var previous: SealedSecret?

    package init(
        tenant: TenantID,
        subscriber: Subscriber,
        url: String,
        secret: CallSecret,
        epoch: Int64,
        cursor: Int64,
        attempts: Int,
        failingFor: Duration,
        claimedAt: Timestamp,
        order: WebhookOrder = .log,
        previous: SealedSecret? = nil
    ) {
        self.previous = previous
        self.tenant = tenant
        self.subscriber = subscriber
        self.url = url
        self.secret = secret
        self.epoch = epoch
        self.cursor = cursor
        self.attempts = attempts
        self.failingFor = failingFor
        self.claimedAt = claimedAt
        self.order = order
    }

    /// The webhook, if the subscriber is one.
    package var webhook: WebhookID? { if case .webhook(let id, _) = subscriber { id } else { nil } }
}

/// The content of a call.
package struct WebhookBatch: Sendable, Hashable {
    /// For a sender.
    package var deliveries: [DeliverySnapshot]
    /// For a webhook.
    package var events: [EventRecord]
    /// The generation of the log that the events' offsets belong to. Empty for a sender.
    package var generation: String
    /// The offset up to which the log was read for the batch.
    package var cursor: Int64
    /// Whether more events wait after it.
    package var hasMore: Bool

    package init(
        deliveries: [DeliverySnapshot] = [],
        events: [EventRecord] = [],
        generation: String = "",
        cursor: Int64,
        hasMore: Bool
    ) {
        self.deliveries = deliveries
        self.events = events
        self.generation = generation
        self.cursor = cursor
        self.hasMore = hasMore
    }

    /// The number of entries in the batch.
    package var count: Int { deliveries.count + events.count }
}
