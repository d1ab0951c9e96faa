/// The additional parameters of a submission in a dialect that numbers messages and reports on recipients.
package struct Numbering: Sendable, Hashable {
    /// For an audience of users: the template variables of each user.
    package var variables: [UserVariables]
    /// Only devices with these tokens; nil: all. If the audience is everyone, they are the audience; if it is groups, only devices of members are included.
    package var tokens: [DeviceToken]?
    package var pace: Pace?
    /// A text to which the payload links.
    package var page: PageDraft?

    package init(
        variables: [UserVariables] = [],
        tokens: [DeviceToken]? = nil,
        pace: Pace? = nil,
        page: PageDraft? = nil
    ) {
        self.variables = variables
        self.tokens = tokens
        self.pace = pace
        self.page = page
    }
}

/// The template variables of one user.
package struct UserVariables: Sendable, Hashable {
    package var user: UserID
    package var values: JSONObject

    package init(user: UserID, values: JSONObject) {
        self.user = user
        self.values = values
    }
}

/// A page that has no unguessable id yet.
package struct PageDraft: Sendable, Hashable {
    /// The last component of its path.
    package var name: String
    package var body: String

    package init(name: String, body: String) {
        self.name = name
        self.body = body
    }
}

/// The location of a message's page.
package struct PageReference: Sendable, Hashable {
    /// 32 lower-case hex digits; a capability.
    package var id: String
    package var name: String

    package init(id: String, name: String) {
        self.id = id
        self.name = name
    }
}

/// A numbered message as it was accepted.
package struct NumberedAcceptance: Sendable, Hashable {
    package var message: MessageID
    /// The message's number in the vendor's dialect.
    package var number: String
    /// The number of targets: counted for lists, and taken from maintained counters for groups and everyone.
    package var targetCount: Int
    /// The keys of the targets of a list; nil when the targets are not known individually.
    package var keys: [VendorDeviceKey]?
    /// Users in the list without a registered device, in the order of the list.
    package var missing: [UserID]

    package init(
        message: MessageID,
        number: String,
        targetCount: Int,
        keys: [VendorDeviceKey]?,
        missing: [UserID] = []
    ) {
        self.message = message
        self.number = number
        self.targetCount = targetCount
        self.keys = keys
        self.missing = missing
    }
}
