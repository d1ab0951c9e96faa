package import Model
import PostgresClient

/// An open message that has no outcome for a diagnosed device, and may reach it.
package struct WaitingFacts: Sendable, Hashable {
    package var message: MessageID
    package var vendor: Vendor
    package var state: MessageState
    package var lane: Lane
    package var acceptedAt: Timestamp
    package var dueAt: Timestamp
    /// The scheduled time in each device's own zone.
    package var localDue: LocalTime?
    package var expiresAt: Timestamp
    package var pausedAt: Timestamp?
    /// Whether it is throttled.
    package var isPaced = false
    /// Nil: its expansion has not reached the device.
    package var target: TargetID?
    /// Whether the message selects the device. False: that is not known, because its audience is not expanded so far, or it has variants.
    package var isSelected = true
    /// Whether the expansion of its audience has not reached the device.
    package var isExpanding: Bool { target == nil }
    package var isLanePaused = false
    /// The place in the queue, which during the expansion is that of the expansion; nil: it is not known.
    package var queue: QueueFacts?

    package init(
        message: MessageID,
        vendor: Vendor,
        state: MessageState,
        lane: Lane,
        acceptedAt: Timestamp,
        dueAt: Timestamp,
        expiresAt: Timestamp
    ) {
        self.message = message
        self.vendor = vendor
        self.state = state
        self.lane = lane
        self.acceptedAt = acceptedAt
        self.dueAt = dueAt
        self.expiresAt = expiresAt
    }
}

extension WaitingFacts {
    static func read(_ row: Row) throws(PostgresError) -> WaitingFacts {
        let state: MessageState = try row.word("state")
        let awaitsApproval = try row.bool("awaits_approval")
        var facts = WaitingFacts(
            message: try row.id("message_id"),
            vendor: try row.id("vendor"),
            state: awaitsApproval && state == .paused ? .awaitingApproval : state,
            lane: try row.lane("lane"),
            acceptedAt: try row.time("accepted_at"),
            dueAt: try row.time("due_at"),
            expiresAt: try row.time("expires_at")
        )
        facts.localDue = try row.optionalInt("due_local").map { LocalTime(seconds: Int64($0)) }
        facts.pausedAt = try row.optionalTime("paused_at")
        facts.isPaced = try row.bool("is_paced")
        facts.target = try row.optionalID("target_id")
        facts.isSelected = try row.bool("is_selected")
        facts.isLanePaused = try row.bool("is_paused")
        facts.queue = try PostgresQueryStore.queue(row)
        return facts
    }
}
