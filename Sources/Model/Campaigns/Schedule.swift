/// A message that is due later, under the name that its caller knows: that of its first message, which a change replaces.
package struct Schedule: Sendable, Hashable {
    package var id: MessageID
    package var message: MessageID
    package var state: MessageState
    /// When the first target is due.
    package var dueAt: Timestamp
    /// In each device's own zone.
    package var isLocal: Bool
    /// What the caller said, in the adapter's words: a change says only what is different.
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
