/// What a device asks about its messages.
package enum InboxCommand: Sendable, Hashable {
    /// One message's delivery to the asking device (or its phone), with its fallback.
    case deliveryInfo(message: String, reporter: Reporter)
    /// Messages that the device got no receipt for, newest first. `.background` only notes that the app was left.
    case appState(key: VendorDeviceKey, isActive: Bool)
}

/// What came of an inbox command.
package enum InboxReply: Sendable, Hashable {
    case deliveryInfo(DeliverySnapshot, platform: Platform?)
    /// Empty when the app only went to the background.
    case undelivered([InboxEntry])
}

/// One message of a device's history.
package struct InboxEntry: Sendable, Hashable {
    package var notification: Notification
    package var sender: SenderID?
    package var receivedAt: Timestamp?
    package var readAt: Timestamp?

    package init(
        notification: Notification,
        sender: SenderID?,
        receivedAt: Timestamp? = nil,
        readAt: Timestamp? = nil
    ) {
        self.notification = notification
        self.sender = sender
        self.receivedAt = receivedAt
        self.readAt = readAt
    }
}
