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
}

/// What came of an inbox command.
package enum InboxReply: Sendable, Hashable {
    case deliveryInfo(DeliverySnapshot, platform: Platform?)
    /// Empty when the app only went to the background.
    case undelivered([InboxEntry])
    case history([InboxEntry])
    case message(InboxEntry)
    /// `remaining` is how many the device has still not received, counted up to `HistoryPage.remainingLimit`.
    case polled([InboxEntry], remaining: Int)
}

/// One message of a device's history.
package struct InboxEntry: Sendable, Hashable {
    package var notification: Notification
    package var sender: SenderID?
    /// Whom it was for, when it was sent.
    package var user: UserID?
    package var receivedAt: Timestamp?
    package var readAt: Timestamp?

    package init(
        notification: Notification,
        sender: SenderID?,
        user: UserID? = nil,
        receivedAt: Timestamp? = nil,
        readAt: Timestamp? = nil
    ) {
        self.notification = notification
        self.sender = sender
        self.user = user
        self.receivedAt = receivedAt
        self.readAt = readAt
    }
}
