/// An event of the log as the event reader counts it, with the state of its delivery at the time of reading.
package struct LoggedEvent: Sendable, Hashable {
    /// The kinds that are counted; the raw value is that of the log.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A delivery has an outcome after an attempt.
        case sent, failed
        /// The app reported it.
        case received, read
        /// An identity became active.
        case registered
        /// An identity ended: it was unregistered, or another one took its device or phone.
        case unregistered, replaced
        /// The push service reported that a device's token is dead.
        case tokenInvalidated = "token_invalidated"
    }

    package var kind: Kind
    package var at: Timestamp
    /// The state of the delivery before the event; nil for an outcome, and for a receipt that arrived before the outcome.
    package var before: String?
    package var app: AppID
    /// The dialect through which the message was sent.
    package var vendor: Vendor
    /// Nil: the event is not of a delivery, or the delivery was removed.
    package var delivery: LoggedDelivery?

    package init(
        _ kind: Kind,
        at: Timestamp,
        before: String? = nil,
        app: AppID,
        vendor: Vendor,
        delivery: LoggedDelivery? = nil
    ) {
        self.kind = kind
        self.at = at
        self.before = before
        self.app = app
        self.vendor = vendor
        self.delivery = delivery
    }
}

/// A delivery at the time at which its event is read, which may be later than the event.
package struct LoggedDelivery: Sendable, Hashable {
    package var key: Key
    package var state: String
    /// Whether the gateway gave the push to the push service in its last attempt, and not to a vendor. It does not change after the outcome.
    package var hasTransport: Bool
    /// How long the transport took to answer. Unit: milliseconds. Nil: it did not answer.
    package var transportMilliseconds: Int64?
    /// When the push was due for the device, if not with its message.
    package var dueAt: Timestamp?
    /// The time of the outcome; nil while only a receipt has arrived.
    package var sentAt: Timestamp?
    package var receivedAt: Timestamp?
    package var readAt: Timestamp?
    package var device: DeviceID?
    package var user: UserID?
    /// The number of what the device's SDK had reported at the hand-over; nil: nothing.
    package var client: Int64?
    /// The hour of the week of the outcome in the device's time zone; nil: the zone is not known.
    package var localHour: WeekHour?

    package struct Key: Sendable, Hashable, Comparable {
        package var dueDay: Int32
        package var message: MessageID
        package var target: TargetID

        package init(dueDay: Int32, message: MessageID, target: TargetID) {
            self.dueDay = dueDay
            self.message = message
            self.target = target
        }

        package static func < (first: Key, second: Key) -> Bool {
            (first.dueDay, first.message.description, first.target.description)
                < (second.dueDay, second.message.description, second.target.description)
        }
    }

    package init(
        key: Key,
        state: String,
        hasTransport: Bool,
        transportMilliseconds: Int64? = nil,
        sentAt: Timestamp?,
        receivedAt: Timestamp? = nil,
        readAt: Timestamp? = nil,
        device: DeviceID? = nil,
        user: UserID? = nil
    ) {
        self.key = key
        self.state = state
        self.hasTransport = hasTransport
        self.transportMilliseconds = transportMilliseconds
        self.sentAt = sentAt
        self.receivedAt = receivedAt
        self.readAt = readAt
        self.device = device
        self.user = user
    }

    /// Whether it was accepted, or nobody knows and it may have been.
    package var isReached: Bool { state == "sent" || isReceived }
    package var isReceived: Bool { state == "received" || isRead }
    package var isRead: Bool { state == "read" }
}

/// When a message was due, and what its deliveries are counted by.
package struct DueTime: Sendable, Hashable {
    package var at: Timestamp
    /// False: its parts are due at different times, because it is due at a local time or throttled. Their deliveries have due times of their own.
    package var isSingle: Bool
    /// The campaign under which the message is counted.
    package var campaign: CountedValue?

    package init(at: Timestamp, isSingle: Bool = true, campaign: CountedValue? = nil) {
        self.at = at
        self.isSingle = isSingle
        self.campaign = campaign
    }

    /// Quarter hours since 1970.
    package var quarter: Int32 { Int32(clamping: at.seconds / QuarterRange.seconds) }
}
