/// The addressees of a message.
package enum Audience: Sendable, Hashable {
    /// At most `Audience.listedLimit`. Each is one target, even when no device belongs to it.
    case listed([Addressee])
    /// Every active identity of each user, so that each device of the user is notified. At most `Audience.listedLimit`. A user without an identity is also
    /// one target, as long as the audience is counted at acceptance.
    case users([UserID])
    /// Every active identity of each member, each user once. At most `Audience.groupLimit`.
    case groups([GroupName])
    /// Every active identity whose tags match the expression.
    case tags(TagExpression)
    /// Every active identity of the app in the caller's dialect.
    case everyone

    /// 2,000 addressees in one call: they are resolved and counted in the accepting transaction, which must stay short.
    package static let listedLimit = 2000
    /// 50 groups in one call: each page of the expansion reads all of them.
    package static let groupLimit = 50
}

/// The kind of name by which a back end identifies users.
package enum UserNaming: Sendable, Hashable {
    /// By the user's own id.
    case users
    /// By an alias. A name that is not an alias of any user is looked up as a user id. At most `Audience.listedLimit` devices.
    case aliases
    /// By id, or by an alias in the form of `UserName.text`. At most `Audience.listedLimit` devices.
    case names
}

/// One entry of a list.
package struct Addressee: Sendable, Hashable {
    package var address: Address
    /// The display name that the caller uses.
    package var name: String?

    package init(_ address: Address, name: String? = nil) {
        self.address = address
        self.name = name
    }
}
