/// Tokens of Live Activities.
package enum ActivityCommand: Sendable, Hashable {
    /// Nil removes the token.
    case report(DeviceID, ActivityReference, DeviceToken?)
    case tokens(DeviceID)
    /// The devices that reported a token for the running activity of that name.
    case devices(running: String)
}

/// The result of an `ActivityCommand`.
package enum ActivityReply: Sendable, Hashable {
    case reported
    case tokens([ActivityToken])
    /// At most `Audience.listedLimit` and one more.
    case devices([DeviceID])
}

/// A token by which Apple reaches one Live Activity of a device, or starts one.
package struct ActivityToken: Sendable, Hashable {
    package var activity: ActivityReference
    package var token: DeviceToken
    package var registeredAt: Timestamp

    package init(activity: ActivityReference, token: DeviceToken, registeredAt: Timestamp) {
        self.activity = activity
        self.token = token
        self.registeredAt = registeredAt
    }
}
