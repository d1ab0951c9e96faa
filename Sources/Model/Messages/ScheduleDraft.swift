/// That a submission is to be changed or withdrawn until it is due.
package struct ScheduleDraft: Sendable, Hashable {
    /// The schedule that is changed, with the message that it had when it was read; nil: a new one.
    package var replaced: ScheduleVersion?
    package var request: JSONObject

    package init(replaced: ScheduleVersion? = nil, request: JSONObject) {
        self.replaced = replaced
        self.request = request
    }
}

/// A schedule as it was when it was read.
package struct ScheduleVersion: Sendable, Hashable {
    package var id: MessageID
    package var message: MessageID

    package init(id: MessageID, message: MessageID) {
        self.id = id
        self.message = message
    }
}
