/// What is known of a device's token.
package enum TokenState: String, Sendable, Hashable, CaseIterable {
    /// No token yet. Goes to: active.
    case none
    /// Usable. Goes to: invalid, quarantined.
    case active
    /// The push service said it is dead. Goes to: active, by a new registration.
    case invalid
    /// Doubtful: wrong environment or topic. Goes to: active, invalid.
    case quarantined
}

/// What a vendor's client made of its registration.
package enum IdentityState: String, Sendable, Hashable, CaseIterable {
    case active, replaced, unregistered, removed
}

/// Where a message is on its way. It never goes back except from `paused`.
package enum MessageState: String, Sendable, Hashable, CaseIterable {
    case scheduled, expanding, sending, paused, done, canceled, expired, dead
}

/// Where one delivery is. It never moves backwards; `read` implies `received`.
package enum DeliveryState: String, Sendable, Hashable, CaseIterable {
    case queued, sent, received, read, failed, suppressed, expired, canceled

    /// Whether the transport is done with it: history and receipts may still follow.
    package var isSettled: Bool { self != .queued }
}

/// Why a delivery was not even tried.
package enum SuppressionReason: String, Sendable, Hashable, CaseIterable {
    /// The address has no device, or its device no usable token.
    case noDevice
    /// Another target of the same message rings the same device.
    case duplicate
    /// The user switched pushes off.
    case preference
    /// The app's quiet hours, which let nothing wait.
    case quietHours
    /// Outside of the device's receiving window, and the app lets nothing wait.
    case receivingWindow
    /// The hours begin when the message has expired.
    case opensTooLate
    /// The device got as many messages as the app allows.
    case frequencyCap
}

/// How urgent: the order in which nodes look for work.
package enum Lane: Int16, Sendable, Hashable, CaseIterable {
    case urgent = 0
    case transactional = 1
    case bulk = 2
    case background = 3
}

/// One message's counts, stage by stage.
package struct Funnel: Sendable, Hashable {
    /// Targets of the message; nil while an audience is still being expanded.
    package var recipients: Int?
    package var sent: Int
    package var received: Int
    package var read: Int
    package var failed: Int
    package var suppressed: Int
    package var expired: Int
    package var canceled: Int

    package init(
        recipients: Int? = nil,
        sent: Int = 0,
        received: Int = 0,
        read: Int = 0,
        failed: Int = 0,
        suppressed: Int = 0,
        expired: Int = 0,
        canceled: Int = 0
    ) {
        self.recipients = recipients
        self.sent = sent
        self.received = received
        self.read = read
        self.failed = failed
        self.suppressed = suppressed
        self.expired = expired
        self.canceled = canceled
    }
}
