/// Makes a submission a schedule, which can be changed or withdrawn until it is due.
package struct ScheduleDraft: Sendable, Hashable {
    /// The schedule to change, with the message that it had when it was read. Nil: a new schedule.
    package var replaced: ScheduleVersion?
    package var request: JSONObject

    package init(replaced: ScheduleVersion? = nil, request: JSONObject) {
        self.replaced = replaced
        self.request = request
    }
}

/// A schedule in the version that was read.
package struct ScheduleVersion: Sendable, Hashable {
    package var id: MessageID
    package var message: MessageID

    package init(id: MessageID, message: MessageID) {
        self.id = id
        self.message = message
    }
}
