/// The order in which a webhook receives events. The raw values are stored and part of the native API.
package enum WebhookOrder: String, Sendable, Hashable, CaseIterable {
    /// The order of the tenant's log: one call at a time.
    case log
    /// The order of the log for each device; the calls of different devices are made in parallel.
    case device
}

/// A webhook to be stored.
package struct NewWebhook: Sendable, Hashable {
    package var id: WebhookID
    package var url: String
    package var filter: EventFilter
    package var secret: SealedSecret
    package var isActive: Bool
    package var order: WebhookOrder

    package init(
        id: WebhookID,
        url: String,
        filter: EventFilter,
        secret: SealedSecret,
        isActive: Bool,
        order: WebhookOrder = .log
    ) {
        self.id = id
        self.url = url
        self.filter = filter
        self.secret = secret
        self.isActive = isActive
        self.order = order
    }
}

/// An encrypted secret: it can be opened only with the master key.
package struct SealedSecret: Sendable, Hashable {
    /// Identifies the secret that signed; it reveals nothing of the secret.
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
    package var order: WebhookOrder
    package var createdAt: Timestamp
    /// The tenant's event offset up to which the webhook has received everything.
    package var cursor: Int64
    /// Consecutive failures.
    package var attempts: Int
    /// A fixed reason or an HTTP status; nil while the calls succeed.
    package var failure: String?

    package init(
        id: WebhookID,
        url: String,
        filter: EventFilter,
        keyID: String,
        isActive: Bool,
        order: WebhookOrder,
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
        self.order = order
        self.createdAt = createdAt
        self.cursor = cursor
        self.attempts = attempts
        self.failure = failure
    }
}

/// A change of a webhook. Fields that are nil stay unchanged.
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

/// The result of a replay.
package enum ReplayOutcome: Sendable, Hashable {
    case moved
    case unknown
    /// The offset is not in the log, or has expired.
    case outside(EventBounds)
}
