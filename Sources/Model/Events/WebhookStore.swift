/// What the dispatcher of outgoing calls needs of a store.
///
/// What the implementer owes: a subscription's events come in the order of the tenant's event offsets and none is skipped; `cursor` moves only by
/// `advance`; a lease keeps two nodes from calling for one subscription at a time, and an expired one is anyone's. `advance`, `postpone` and `stop`
/// end the lease: whatever waits behind is claimed again. A subscription that is new starts at the tenant's current offset; a changed URL keeps its
/// cursor.
package protocol WebhookStore: Sendable {
    /// Subscriptions with events after their cursor whose next try is due, now leased to `node`.
    ///
    /// - Throws: `StoreError`.
    func claim(limit: Int, by node: NodeID, lease: Duration) async throws(StoreError) -> [WebhookLease]

    /// What happened after the cursor, oldest first, at most `limit` entries: for a sender the latest state of each delivery that changed, for a
    /// webhook every event that it wants.
    ///
    /// - Throws: `StoreError`.
    func batch(for lease: WebhookLease, limit: Int) async throws(StoreError) -> WebhookBatch

    /// The calls up to `cursor` were taken: move on, forget failures. False: the lease was lost.
    ///
    /// - Throws: `StoreError`.
    func advance(_ lease: WebhookLease, to cursor: Int64, by node: NodeID) async throws(StoreError) -> Bool

    /// The call failed: try again after `delay`.
    ///
    /// - Throws: `StoreError`.
    func postpone(_ lease: WebhookLease, by delay: Duration, reason: String, node: NodeID) async throws(StoreError)

    /// Nobody took the calls for too long: a webhook is called no more, until its tenant says so. Its cursor stays.
    ///
    /// - Throws: `StoreError`.
    func stop(_ lease: WebhookLease, reason: String, node: NodeID) async throws(StoreError)
}

/// Who is told: both kinds have a cursor into the tenant's events, a lease and a count of failures.
package enum Subscriber: Sendable, Hashable {
    /// A back end that its vendor makes register: it hears of its own deliveries, in that vendor's dialect.
    case sender(SenderID, AppID, Vendor, BindingSettings)
    /// A webhook that the tenant made: it hears of the events it wants.
    case webhook(WebhookID, EventFilter)
}

/// What signs a subscription's calls.
package enum CallSecret: Sendable, Hashable {
    /// A sender's, made of the master key and the sender's names: nothing is stored.
    case derived
    /// A webhook's, as it was given to the tenant.
    case sealed(SealedSecret)
}

/// One subscription that this node may call for.
package struct WebhookLease: Sendable, Hashable {
    package var tenant: TenantID
    package var subscriber: Subscriber
    package var url: String
    package var secret: CallSecret
    package var epoch: Int64
    /// The tenant's event offset up to which everything was delivered.
    package var cursor: Int64
    /// Failures in a row.
    package var attempts: Int
    /// How long ago the first of them happened, on the database's clock.
    package var failingFor: Duration
    /// When it was claimed, on the database's clock: what its calls are signed with.
    package var claimedAt: Timestamp

    package init(
        tenant: TenantID,
        subscriber: Subscriber,
        url: String,
        secret: CallSecret,
        epoch: Int64,
        cursor: Int64,
        attempts: Int,
        failingFor: Duration,
        claimedAt: Timestamp
    ) {
        self.tenant = tenant
        self.subscriber = subscriber
        self.url = url
        self.secret = secret
        self.epoch = epoch
        self.cursor = cursor
        self.attempts = attempts
        self.failingFor = failingFor
        self.claimedAt = claimedAt
    }

    /// The sender, if it is one.
    package var sender: SenderID? { if case .sender(let id, _, _, _) = subscriber { id } else { nil } }
    /// The webhook, if it is one.
    package var webhook: WebhookID? { if case .webhook(let id, _) = subscriber { id } else { nil } }
}

/// What a call reports.
package struct WebhookBatch: Sendable, Hashable {
    /// For a sender.
    package var deliveries: [DeliverySnapshot]
    /// For a webhook.
    package var events: [EventRecord]
    /// The offset up to which the log was read for it.
    package var cursor: Int64
    /// Whether more wait behind it.
    package var hasMore: Bool

    package init(
        deliveries: [DeliverySnapshot] = [],
        events: [EventRecord] = [],
        cursor: Int64,
        hasMore: Bool
    ) {
        self.deliveries = deliveries
        self.events = events
        self.cursor = cursor
        self.hasMore = hasMore
    }

    /// How many entries there are to tell.
    package var count: Int { deliveries.count + events.count }
}
