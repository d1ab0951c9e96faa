/// A user of whom the tenant's back end expects a registration: the first device of the app that registers with the user and with this
/// phone, and with the token where one is given, is vouched for.
package struct ExpectedUser: Sendable, Hashable {
    package var user: UserID
    /// Digits, as registrations have them. Nil: the registration has no phone, because nobody confirms one.
    package var phone: String?
    /// Nil: any token.
    package var token: DeviceToken?
    /// From then on the expectation has no effect.
    package var endsAt: Timestamp

    package init(user: UserID, phone: String? = nil, token: DeviceToken? = nil, endsAt: Timestamp) {
        self.user = user
        self.phone = phone
        self.token = token
        self.endsAt = endsAt
    }
}

/// An expectation that is stored. Only a digest of its token is.
package struct StoredExpectation: Sendable, Hashable {
    package var user: UserID
    package var phone: String?
    package var hasToken: Bool
    package var endsAt: Timestamp
    package var createdAt: Timestamp

    package init(user: UserID, phone: String?, hasToken: Bool, endsAt: Timestamp, createdAt: Timestamp) {
        self.user = user
        self.phone = phone
        self.hasToken = hasToken
        self.endsAt = endsAt
        self.createdAt = createdAt
    }
}
