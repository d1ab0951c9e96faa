/// A message that is due later. Its name, which the caller uses, is the id of its first message; a change replaces the message.
package struct Schedule: Sendable, Hashable {
    package var id: MessageID
    package var message: MessageID
    package var state: MessageState
    /// When the first target is due.
    package var dueAt: Timestamp
    /// Whether the time applies in each device's own zone.
    package var isLocal: Bool
    /// The request of the caller in the format of the adapter. A change contains only the differences.
    package var request: JSONObject

    package init(
        id: MessageID,
        message: MessageID,
        state: MessageState,
        dueAt: Timestamp,
        isLocal: Bool,
        request: JSONObject
    ) {
        self.id = id
        self.message = message
        self.state = state
        self.dueAt = dueAt
        self.isLocal = isLocal
        self.request = request
    }
}

extension Schedule {
    package var version: ScheduleVersion { ScheduleVersion(id: id, message: message) }
}
