/// What a device asks about its messages.
package enum InboxCommand: Sendable, Hashable {
    /// One message's delivery to the asking device (or its phone), with its fallback.
    case deliveryInfo(message: String, reporter: Reporter)
    /// Messages that the device got no receipt for, newest first. `.background` only notes that the app was left.
    case appState(key: VendorDeviceKey, isActive: Bool)
    /// A page of the messages to the device, or to its user, newest first. What was sent to the device and is shown counts as received.
    case history(DeviceCaller, HistoryPage)
    /// One message of that history, by its number. Nothing counts as received or read.
    case message(DeviceCaller, number: String)
    /// What the device has not received, oldest first; then it has.
    case poll(DeviceCaller, limit: Int)
    /// One message of the named user, who must be the caller's, by its number. What came for an earlier user of the device is not his.
    case userMessage(DeviceCaller, UserID, number: String, hiddenBy: String?)
    /// How many messages of a history were not read: of the newest `HistoryPage.lookLimit`.
    case unread(DeviceCaller, HistoryPage.Owner, hiddenBy: String?)
}

/// What came of an inbox command.
package enum InboxReply: Sendable, Hashable {
    indirect case deliveryInfo(DeliverySnapshot, platform: Platform?)
    /// Empty when the app only went to the background.
    case undelivered([InboxEntry])
    case history([InboxEntry])
    indirect case message(InboxEntry)
    /// `remaining` is how many the device has still not received, counted up to `HistoryPage.remainingLimit`.
    case polled([InboxEntry], remaining: Int)
    /// 0 to `HistoryPage.lookLimit`.
    case unread(Int)
}

/// One message of a device's history.
package struct InboxEntry: Sendable, Hashable {
    package var notification: Notification
    package var sender: SenderID?
    /// Whom it was for, when it was sent.
    package var user: UserID?
    package var receivedAt: Timestamp?
    package var readAt: Timestamp?
    /// Whether it left for one of the user's devices. Told where a history is looked at.
    package var wasSent: Bool
    /// What fills the user's placeholders, and the name that does where nothing else says it. Told where a history is looked at.
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
