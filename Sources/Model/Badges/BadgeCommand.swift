/// The number at an app's icon that the server counts: per user, or per device where there is no user.
package enum BadgeCommand: Sendable, Hashable {
    /// Nil only reads.
    case set(Int?, of: BadgeHolder)
}

/// Who a badge is counted for, as far as a caller names it: the first that is known of token, key and user.
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

/// What a read does to the badge of its reader.
package enum BadgeChange: Sendable, Hashable {
    /// One less at the first read of a message, never below 0.
    case keep
    /// Each time it is said.
    case set(Int)
}

/// What came of a badge command.
package enum BadgeReply: Sendable, Hashable {
    /// The counter after it.
    case count(Int)
}
