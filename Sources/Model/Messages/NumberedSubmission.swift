/// What a submission asks for beyond its content, where a vendor numbers its messages and reports on recipients.
package struct Numbering: Sendable, Hashable {
    /// Of an audience of users: what fills the template for each.
    package var variables: [UserVariables]
    /// Only devices with these tokens; nil: all. With everyone as audience they are the audience, with groups those of them whose user is a member.
    package var tokens: [DeviceToken]?
    package var pace: Pace?
    /// Text that the payload links to.
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

/// What fills a template for one user.
package struct UserVariables: Sendable, Hashable {
    package var user: UserID
    package var values: JSONObject

    package init(user: UserID, values: JSONObject) {
        self.user = user
        self.values = values
    }
}

/// A page before it has its unguessable id.
package struct PageDraft: Sendable, Hashable {
    /// The last part of its path.
    package var name: String
    package var body: String

    package init(name: String, body: String) {
        self.name = name
        self.body = body
    }
}

/// Where a message's page is.
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
    /// The vendor's number of it.
    package var number: String
    /// How many are meant: counted for lists, maintained counts for groups and everyone.
    package var targetCount: Int
    /// The keys of the targets of a list; nil where they are not known one by one.
    package var keys: [VendorDeviceKey]?
    /// Users of the list whom nobody is registered for, in its order.
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
