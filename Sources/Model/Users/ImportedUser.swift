/// A user of a tenant's export, apart from its devices and groups.
package struct ImportedUser: Sendable, Hashable {
    package var user: UserID
    /// Whether the user is known by aliases only.
    package var isAnonymous: Bool
    /// The setting of all devices of the user; nil: it was never set.
    package var acceptsPush: Bool?
    package var isOptedIn: Bool
    package var attributes: JSONObject
    /// In the order of their subjects.
    package var consents: [RecordedConsent]
    package var aliases: [UserAlias]

    package init(
        user: UserID,
        isAnonymous: Bool = false,
        acceptsPush: Bool? = nil,
        isOptedIn: Bool = false,
        attributes: JSONObject = JSONObject(),
        consents: [RecordedConsent] = [],
        aliases: [UserAlias] = []
    ) {
        self.user = user
        self.isAnonymous = isAnonymous
        self.acceptsPush = acceptsPush
        self.isOptedIn = isOptedIn
        self.attributes = attributes
        self.consents = consents
        self.aliases = aliases
    }
}
