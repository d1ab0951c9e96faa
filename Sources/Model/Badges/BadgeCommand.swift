/// Badges that the server counts: one per user, or one per device without a user.
package enum BadgeCommand: Sendable, Hashable {
    /// Nil only reads the badge.
    case set(Int?, of: BadgeHolder)
}

/// Identifies the holder of a badge: the first known one of token, key and user.
package struct BadgeHolder: Sendable, Hashable {
    package var key: VendorDeviceKey?
    package var token: DeviceToken?
    package var user: UserID?

    package init(key: VendorDeviceKey? = nil, token: DeviceToken? = nil, user: UserID? = nil) {
        self.key = key
        self.token = token
        self.user = user
    }
}

/// The change of the reader's badge by a read receipt.
package enum BadgeChange: Sendable, Hashable {
    /// The badge decreases by one at the first read of a message, never below 0.
    case keep
    /// The badge is set by each receipt.
    case set(Int)
}

/// The result of a badge command.
package enum BadgeReply: Sendable, Hashable {
    /// The badge afterwards.
    case count(Int)
}
