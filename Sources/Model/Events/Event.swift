/// The kind of an entry in a tenant's event log: the new state of a delivery, a message, an identity or a token.
package enum EventKind: String, Sendable, Hashable, CaseIterable {
    /// A message is stored and will be sent.
    case accepted
    /// The message was canceled. Its unsent deliveries follow, each as `canceled`.
    case messageCanceled = "message_canceled"
    /// The message was paused, resumed, or its failed parts were requeued.
    case messagePaused = "message_paused"
    case messageResumed = "message_resumed"
    case messageRequeued = "message_requeued"
    /// The message reaches more recipients than the app permits without an approval, and was approved.
    case approvalNeeded = "approval_needed"
    case messageApproved = "message_approved"
    /// The states of a delivery. `failed` is a rejection; the reason names its source.
    case sent, failed, suppressed, expired, canceled, received, read
    /// An identity became active.
    case registered
    /// The device or phone of the identity belongs to another identity now.
    case replaced
    /// The identity was unregistered.
    case unregistered
    /// An identity claims a user, phone or token that another identity has.
    case moved
    /// The tenant's back end confirmed the user of an identity.
    case vouched
    /// The device of the identity answered a nonce that was sent to its token.
    case possession
    /// Push was switched on or off for the identity.
    case preferenceChanged = "preference_changed"
    /// The push service reported that a device's token is dead.
    case tokenInvalidated = "token_invalidated"
    /// The push service reported that the token belongs to another environment or topic.
    case tokenQuarantined = "token_quarantined"
    /// Another version of an app's rules is in force.
    case routesChanged = "routes_changed"
    /// A migration of an app has another state or step, or its step is complete.
    case migrationChanged = "migration_changed"
}

/// One entry of a tenant's event log.
package struct EventRecord: Sendable, Hashable {
    /// Grows by one per entry, in the order of commits. A reader continues after the last offset that it saw.
    package var offset: Int64
    package var at: Timestamp
    /// The name of an `EventKind`, or of a kind that a newer gateway on the same database wrote.
    package var kind: String
    package var app: AppID
    /// Nil for an event of a device: its token belongs to all dialects.
    package var vendor: Vendor?
    package var sender: SenderID?
    package var subject: EventSubject
    /// Why a delivery did not succeed.
    package var reason: String?
    /// Additional data of this kind of event.
    package var data: JSON?

    package init(
        offset: Int64,
        at: Timestamp,
        kind: String,
        app: AppID,
        vendor: Vendor?,
        sender: SenderID? = nil,
        subject: EventSubject = EventSubject(),
        reason: String? = nil,
        data: JSON? = nil
    ) {
        self.offset = offset
        self.at = at
        self.kind = kind
        self.app = app
        self.vendor = vendor
        self.sender = sender
        self.subject = subject
        self.reason = reason
        self.data = data
    }

    /// The JSON of `GET /v1/events` and webhooks. Missing values are omitted.
    package var json: JSON {
        var object = JSONObject([
            ("offset", .int(offset)), ("at", .string(at.rfc3339)), ("kind", .string(kind)),
            ("app", .string(app.rawValue)),
        ])
        object["vendor"] = vendor.map { .string($0.rawValue) }
        object["sender"] = sender.map { .string($0.rawValue) }
        object["message"] = subject.message.map { .string($0.description) }
        object["target"] = subject.target.map { .string($0.description) }
        object["identity"] = subject.identity.map { .string($0.description) }
        object["device"] = subject.device.map { .string($0.description) }
        object["address"] = subject.address.map { .string($0.canonical) }
        object["reason"] = reason.map { .string($0) }
        object["data"] = data
        return .object(object)
    }
}

/// The subject of an event: a message, one of its deliveries, an identity or a device.
package struct EventSubject: Sendable, Hashable {
    package var message: MessageID?
    /// Nil for an event of the message as a whole, or without a message.
    package var target: TargetID?
    package var identity: IdentityID?
    package var device: DeviceID?
    /// The address by which the caller named the target, or the identity's key. Nil after an erasure.
    package var address: Address?
    /// The user of a delivery when it was sent; a later change of the device's user does not change it. Nil after an erasure.
    package var user: UserID?

    package init(
        message: MessageID? = nil,
        target: TargetID? = nil,
        identity: IdentityID? = nil,
        device: DeviceID? = nil,
        address: Address? = nil,
        user: UserID? = nil
    ) {
        self.message = message
        self.target = target
        self.identity = identity
        self.device = device
        self.address = address
        self.user = user
    }
}

/// Selects the events for a reader.
package struct EventFilter: Sendable, Hashable {
    /// Nil: every app.
    package var app: AppID?
    /// Nil: every dialect, and events of devices, which have no dialect.
    package var vendor: Vendor?
    /// Empty: every kind.
    package var kinds: [String]

    package init(app: AppID? = nil, vendor: Vendor? = nil, kinds: [String] = []) {
        self.app = app
        self.vendor = vendor
        self.kinds = kinds
    }
}

/// A page of a tenant's events.
package struct EventPage: Sendable, Hashable {
    package var events: [EventRecord]
    /// The offset up to which the log was read, including events that the filter excluded. The next page begins after it.
    package var through: Int64
    /// The tenant's last offset.
    package var head: Int64
    /// The generation of the log. An offset identifies an event within one generation only: a restore or a failover may begin another.
    package var generation: String

    package init(events: [EventRecord], through: Int64, head: Int64, generation: String) {
        self.events = events
        self.through = through
        self.head = head
        self.generation = generation
    }

    /// The number of events that one page examines: a filter for rare events must not read a whole log in one statement.
    package static let window = 10_000
}

/// The range of a tenant's log that can be read.
package struct EventBounds: Sendable, Hashable {
    /// The offset before the oldest stored event. A reader that is behind it has missed events.
    package var first: Int64
    /// The last offset.
    package var head: Int64

    package init(first: Int64, head: Int64) {
        self.first = first
        self.head = head
    }
}
