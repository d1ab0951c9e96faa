/// What an entry of a tenant's event log tells: the new state of a delivery, of a message, of an identity or of a token.
package enum EventKind: String, Sendable, Hashable, CaseIterable {
    /// A message is stored and will be sent.
    case accepted
    /// Whoever may cancel it did; its deliveries that are not sent follow, each as `canceled`.
    case messageCanceled = "message_canceled"
    /// Somebody stopped a message, let it go on, or had tried anew what gave up.
    case messagePaused = "message_paused"
    case messageResumed = "message_resumed"
    case messageRequeued = "message_requeued"
    /// A delivery's own states. `failed` is a rejection, and says whose word.
    case sent, failed, suppressed, expired, canceled, received, read
    /// An identity that was not active is.
    case registered
    /// Its device or phone belongs to another identity now.
    case replaced
    /// It left.
    case unregistered
    /// Push was switched on or off for it.
    case preferenceChanged = "preference_changed"
    /// The push service said that a device's token is dead.
    case tokenInvalidated = "token_invalidated"
    /// It said that the token is of another environment or topic.
    case tokenQuarantined = "token_quarantined"
}

/// One entry of a tenant's event log.
package struct EventRecord: Sendable, Hashable {
    /// Grows by one per entry, in the order of commits; a reader goes on after the last one it saw.
    package var offset: Int64
    package var at: Timestamp
    /// An `EventKind`, or what a newer gateway beside this one wrote.
    package var kind: String
    package var app: AppID
    /// Nil for a device: its token is every dialect's.
    package var vendor: Vendor?
    package var sender: SenderID?
    package var subject: EventSubject
    /// Why a delivery did not succeed.
    package var reason: String?
    /// What else its kind tells.
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

    /// As `GET /v1/events` and webhooks spell it: what it does not have is left out.
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

/// What an event is about: a message, one of its deliveries, an identity or a device.
package struct EventSubject: Sendable, Hashable {
    package var message: MessageID?
    /// Nil for an event of the message as a whole, or of no message.
    package var target: TargetID?
    package var identity: IdentityID?
    package var device: DeviceID?
    /// How the caller named the target, or the identity's key. Nil after an erasure.
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

/// Which events a reader wants.
package struct EventFilter: Sendable, Hashable {
    /// Nil: every app.
    package var app: AppID?
    /// Nil: every dialect, and devices, which have none.
    package var vendor: Vendor?
    /// Empty: every kind.
    package var kinds: [String]

    package init(app: AppID? = nil, vendor: Vendor? = nil, kinds: [String] = []) {
        self.app = app
        self.vendor = vendor
        self.kinds = kinds
    }

    package func wants(_ event: EventRecord) -> Bool {
        (app == nil || app == event.app) && (vendor == nil || vendor == event.vendor)
            && (kinds.isEmpty || kinds.contains(event.kind))
    }
}

/// A run of a tenant's events.
package struct EventPage: Sendable, Hashable {
    package var events: [EventRecord]
    /// Up to where the log was read, wanted or not: the next page comes after it.
    package var through: Int64
    /// The tenant's last offset.
    package var head: Int64

    package init(events: [EventRecord], through: Int64, head: Int64) {
        self.events = events
        self.through = through
        self.head = head
    }

    /// How many events one page looks at, wanted or not: a filter for what is rare must not read a whole log in one statement.
    package static let window = 10_000
}

/// What of a tenant's log can be read.
package struct EventBounds: Sendable, Hashable {
    /// The offset before the oldest event that is kept: a reader before it has missed some.
    package var first: Int64
    /// The last offset.
    package var head: Int64

    package init(first: Int64, head: Int64) {
        self.first = first
        self.head = head
    }
}
