/// Webhooks as a tenant makes them. The dispatcher's view of them is `WebhookStore`.
///
/// What the implementer owes: nothing of another tenant is seen or changed; a new webhook starts at the tenant's current offset; `change` and
/// `replay` end a lease that somebody holds, so that no bookkeeping of an older call undoes them, and forget failures.
package protocol SubscriptionStore: Sendable {
    /// False when the tenant has `limit` already.
    ///
    /// - Throws: `StoreError`.
    func create(_ webhook: NewWebhook, in tenant: TenantID, limit: Int) async throws(StoreError) -> Bool

    /// Every webhook of the tenant, oldest first.
    ///
    /// - Throws: `StoreError`.
    func webhooks(in tenant: TenantID) async throws(StoreError) -> [WebhookFacts]

    /// - Throws: `StoreError`.
    func webhook(_ id: WebhookID, in tenant: TenantID) async throws(StoreError) -> WebhookFacts?

    /// False when there is none.
    ///
    /// - Throws: `StoreError`.
    func change(_ id: WebhookID, _ change: WebhookChange, in tenant: TenantID) async throws(StoreError) -> Bool

    /// False when there is none.
    ///
    /// - Throws: `StoreError`.
    func remove(_ id: WebhookID, in tenant: TenantID) async throws(StoreError) -> Bool

    /// Tells it everything after `offset` again.
    ///
    /// - Throws: `StoreError`.
    func replay(_ id: WebhookID, from offset: Int64, in tenant: TenantID) async throws(StoreError) -> ReplayOutcome
}

/// A webhook to be stored.
package struct NewWebhook: Sendable, Hashable {
    package var id: WebhookID
    package var url: String
    package var filter: EventFilter
    package var secret: SealedSecret
    package var isActive: Bool

    package init(id: WebhookID, url: String, filter: EventFilter, secret: SealedSecret, isActive: Bool) {
        self.id = id
        self.url = url
        self.filter = filter
        self.secret = secret
        self.isActive = isActive
    }
}

/// A secret as it rests: only who has the master key can open it.
package struct SealedSecret: Sendable, Hashable {
    /// Which secret signed; nothing of the secret itself.
    package var keyID: String
    package var bytes: [UInt8]

    package init(keyID: String, bytes: [UInt8]) {
        self.keyID = keyID
        self.bytes = bytes
    }
}

/// A webhook as its tenant sees it.
package struct WebhookFacts: Sendable, Hashable {
    package var id: WebhookID
    package var url: String
    package var filter: EventFilter
    package var keyID: String
    package var isActive: Bool
    package var createdAt: Timestamp
    /// The tenant's event offset up to which it was told everything.
    package var cursor: Int64
    /// Failures in a row.
    package var attempts: Int
    /// A fixed word or a status; nil while its calls are taken.
    package var failure: String?

    package init(
        id: WebhookID,
        url: String,
        filter: EventFilter,
        keyID: String,
        isActive: Bool,
        createdAt: Timestamp,
        cursor: Int64,
        attempts: Int,
        failure: String?
    ) {
        self.id = id
        self.url = url
        self.filter = filter
        self.keyID = keyID
        self.isActive = isActive
        self.createdAt = createdAt
        self.cursor = cursor
        self.attempts = attempts
        self.failure = failure
    }
}

/// What of a webhook changes; nil stays.
package struct WebhookChange: Sendable, Hashable {
    package var url: String?
    package var kinds: [String]?
    package var isActive: Bool?

    package init(url: String? = nil, kinds: [String]? = nil, isActive: Bool? = nil) {
        self.url = url
        self.kinds = kinds
        self.isActive = isActive
    }
}

/// How a replay was answered.
package enum ReplayOutcome: Sendable, Hashable {
    case moved
    case unknown
    /// The offset is not in the log, or not any more.
    case outside(EventBounds)
}
