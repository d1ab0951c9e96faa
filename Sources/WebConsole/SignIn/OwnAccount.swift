package import Model
package import PageParts

/// A session in the list of a person's own account.
package struct OwnSession: Sendable, Hashable {
    package var id: String
    package var createdAt: Timestamp
    package var seenAt: Timestamp
    package var address: String
    package var browser: String
    package var isThis: Bool

    package init(
        id: String,
        createdAt: Timestamp,
        seenAt: Timestamp,
        address: String,
        browser: String,
        isThis: Bool
    ) {
        self.id = id
        self.createdAt = createdAt
        self.seenAt = seenAt
        self.address = address
        self.browser = browser
        self.isThis = isThis
    }
}

/// A person's own account.
package struct OwnAccount: Sendable, Hashable {
    /// One-time codes that are being set up.
    package struct NewCodes: Sendable, Hashable {
        /// As people type it.
        package var secret: String
        /// As an authenticator application reads it.
        package var address: String
        /// The form returns it, so that the secret is not stored before it is confirmed.
        package var salt: String

        package init(secret: String, address: String, salt: String) {
            self.secret = secret
            self.address = address
            self.salt = salt
        }
    }

    package var name: String
    /// The tenants with the roles in them.
    package var roles: [PageRequest.Parameter]
    package var hasCodes: Bool
    package var mustHaveCodes: Bool
    package var newCodes: NewCodes?
    package var sessions: [OwnSession]

    package init(
        name: String,
        roles: [PageRequest.Parameter],
        hasCodes: Bool,
        mustHaveCodes: Bool,
        newCodes: NewCodes? = nil,
        sessions: [OwnSession]
    ) {
        self.name = name
        self.roles = roles
        self.hasCodes = hasCodes
        self.mustHaveCodes = mustHaveCodes
        self.newCodes = newCodes
        self.sessions = sessions
    }
}
