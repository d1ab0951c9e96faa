/// A device's query about its messages.
package enum InboxCommand: Sendable, Hashable {
    /// The delivery of one message to the calling device (or its phone), with its fallback.
    case deliveryInfo(message: String, reporter: Reporter)
    /// Messages without a receipt of the device, newest first. `.background` only records that the user left the app.
    case appState(key: VendorDeviceKey, isActive: Bool)
    /// A page of the messages to the device, or to its user, newest first. Messages to the device that the page contains count as received.
    case history(DeviceCaller, HistoryPage)
    /// One message of that history, by its number. Nothing counts as received or read.
    case message(DeviceCaller, number: String)
    /// The messages that the device has not received, oldest first. They count as received afterwards.
    case poll(DeviceCaller, limit: Int)
    /// One message of the given user, who must be the caller's, by its number. Messages to an earlier user of the device are not visible.
    case userMessage(DeviceCaller, UserID, number: String, hiddenBy: String?)
    /// The number of unread messages among the newest `HistoryPage.lookLimit` of a history.
    case unread(DeviceCaller, HistoryPage.Owner, hiddenBy: String?)
}

/// The result of an inbox command.
package enum InboxReply: Sendable, Hashable {
    indirect case deliveryInfo(DeliverySnapshot, platform: Platform?)
    /// Empty when the app went to the background.
    case undelivered([InboxEntry])
    case history([InboxEntry])
    indirect case message(InboxEntry)
    /// `remaining` is the number of messages that the device has still not received, up to `HistoryPage.remainingLimit`.
    case polled([InboxEntry], remaining: Int)
    /// 0 to `HistoryPage.lookLimit`.
    case unread(Int)
}

/// One message of a device's history.
package struct InboxEntry: Sendable, Hashable {
    package var notification: Notification
    package var sender: SenderID?
    /// The user to whom the message was addressed when it was sent.
    package var user: UserID?
    package var receivedAt: Timestamp?
    package var readAt: Timestamp?
    /// Whether it was sent to one of the user's devices. Set only for histories that are read without recording a receipt.
    package var wasSent: Bool
    /// The values of the user's placeholders. `name` is the user's name if they do not contain it. Set only for histories that
    /// are read without recording a receipt.
    package var variables: JSONObject
    package var name: String?

    package init(
        notification: Notification,
        sender: SenderID?,
        user: UserID? = nil,
        receivedAt: Timestamp? = nil,
        readAt: Timestamp? = nil,
        wasSent: Bool = true,
        variables: JSONObject = [:],
        name: String? = nil
    ) {
        self.notification = notification
        self.sender = sender
        self.user = user
        self.receivedAt = receivedAt
        self.readAt = readAt
        self.wasSent = wasSent
        self.variables = variables
        self.name = name
    }
}
