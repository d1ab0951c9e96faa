/// The state of a message. It never moves backwards, except from `paused`.
package enum MessageState: String, Sendable, Hashable, CaseIterable {
    case scheduled, expanding, sending, paused, done, canceled, expired, dead
    /// Paused until someone other than the sender approves it.
    case awaitingApproval
    /// An upstream sent it, and the gateway has only seen that.
    case observed
}

/// The state of one delivery. It never moves backwards; `read` implies `received`.
package enum DeliveryState: String, Sendable, Hashable, CaseIterable {
    case queued, sent, received, read, failed, suppressed, expired, canceled

    /// Whether the transport has finished with it. Receipts may still follow.
    package var isSettled: Bool { self != .queued }
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
