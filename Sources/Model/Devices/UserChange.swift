/// A change of a device's user.
package enum UserChange: Sendable, Hashable {
    /// Keeps the current user.
    case keep
    /// Sets this user. `isExclusive`: the user is removed from all other devices.
    case set(UserID, name: String? = nil, phone: String? = nil, isExclusive: Bool = false)
    /// Removes the user.
    case clear
}

/// The result of a `UserChange`.
package struct AssignedUser: Sendable, Hashable {
    /// Nil: no user.
    package var user: UserID?
    /// Whether the user is new on this device and was on another device before.
    package var hasMoved: Bool

    package init(user: UserID?, hasMoved: Bool = false) {
        self.user = user
        self.hasMoved = hasMoved
    }
}

/// The answer to a device that queries its own registration.
package struct IdentityStanding: Sendable, Hashable {
    package var state: IdentityState
    package var token: DeviceToken?
    package var user: UserID?
    package var tokenState: TokenState
    /// The attributes as they were registered.
    package var attributes: JSONObject

    package init(
        state: IdentityState,
        token: DeviceToken?,
        user: UserID?,
        tokenState: TokenState = .active,
        attributes: JSONObject = JSONObject()
    ) {
        self.state = state
        self.token = token
        self.user = user
        self.tokenState = tokenState
        self.attributes = attributes
    }
}
