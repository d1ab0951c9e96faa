/// What the dispatcher of outgoing calls needs of a store.
///
/// What the implementer owes: a subscription's events come in the order of the tenant's event offsets and none is skipped; `cursor` moves only by
/// `advance`; a lease keeps two nodes from calling for one subscription at a time, and an expired one is anyone's. `advance` and `postpone` end the
/// lease: whatever waits behind is claimed again. A subscription that is new starts at the tenant's current offset; a changed URL keeps its cursor.
package protocol WebhookStore: Sendable {
    /// Subscriptions with events after their cursor whose next try is due, now leased to `node`.
    ///
    /// - Throws: `StoreError`.
    func claim(limit: Int, by node: NodeID, lease: Duration) async throws(StoreError) -> [WebhookLease]

    /// The latest state of up to `limit` deliveries that changed after the cursor, oldest change first.
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
}

/// One subscription that this node may call for.
package struct WebhookLease: Sendable, Hashable {
    package var tenant: TenantID
    package var app: AppID
    package var vendor: Vendor
    package var sender: SenderID
    package var url: String
    /// Signs the body; at least 32 bytes as hex.
    package var secret: String
    package var epoch: Int64
    /// The tenant's event offset up to which everything was delivered.
    package var cursor: Int64
    /// Failures in a row.
    package var attempts: Int
    /// When the first of them happened, on the database's clock.
    package var failingFor: Duration
    package var settings: BindingSettings

    package init(
        tenant: TenantID,
        app: AppID,
        vendor: Vendor,
        sender: SenderID,
        url: String,
        secret: String,
        epoch: Int64,
        cursor: Int64,
        attempts: Int,
        failingFor: Duration,
        settings: BindingSettings
    ) {
        self.tenant = tenant
        self.app = app
        self.vendor = vendor
        self.sender = sender
        self.url = url
        self.secret = secret
        self.epoch = epoch
        self.cursor = cursor
        self.attempts = attempts
        self.failingFor = failingFor
        self.settings = settings
    }
}

/// What a call reports.
package struct WebhookBatch: Sendable, Hashable {
    package var deliveries: [DeliverySnapshot]
    /// The offset of the last event in it.
    package var cursor: Int64
    /// Whether more wait behind it.
    package var hasMore: Bool

    package init(deliveries: [DeliverySnapshot], cursor: Int64, hasMore: Bool) {
        self.deliveries = deliveries
        self.cursor = cursor
        self.hasMore = hasMore
    }
}
