/// Whose a device is from now on.
package enum UserChange: Sendable, Hashable {
    /// Whoever it was.
    case keep
    /// This user. `isExclusive`: other devices that the user is on become nobody's.
    case set(UserID, name: String? = nil, phone: String? = nil, isExclusive: Bool = false)
    /// Nobody's.
    case clear
}

/// What came of a `UserChange`.
package struct AssignedUser: Sendable, Hashable {
    /// Nil: nobody.
    package var user: UserID?
    /// The user is new on this device and was on another before.
    package var hasMoved: Bool

    package init(user: UserID?, hasMoved: Bool = false) {
        self.user = user
        self.hasMoved = hasMoved
    }
}

/// What a device asks about its own registration.
package struct IdentityStanding: Sendable, Hashable {
    package var state: IdentityState
    package var token: DeviceToken?
    package var user: UserID?
    package var tokenState: TokenState
    /// As they were registered.
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
