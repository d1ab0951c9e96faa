/// To whom.
package enum Audience: Sendable, Hashable {
    /// At most `Audience.listedLimit`; each is one target, also when nobody answers to it.
    case listed([Addressee])
    /// Every active identity of each user, so that a user hears of it on each device. At most `Audience.listedLimit`; a user without any is one
    /// target too, while they are counted at once.
    case users([UserID])
    /// Every active identity of each member, of each user once. At most `Audience.groupLimit`.
    case groups([GroupName])
    /// Every active identity whose tags the expression means.
    case tags(TagExpression)
    /// Every active identity of the app in the caller's dialect.
    case everyone

    /// 2,000 addressees in one call: they are resolved and counted in the accepting transaction, which must stay short.
    package static let listedLimit = 2000
    /// 50 groups in one call: each page of the expansion walks along all of them.
    package static let groupLimit = 50
}

/// By what a back end knows users.
package enum UserNaming: Sendable, Hashable {
    /// Their own id.
    case users
    /// Their alias; whose alias nobody has is looked up by the id. At most `Audience.listedLimit` devices.
    case aliases
    /// Their id, or an alias as `UserName.text` spells it. At most `Audience.listedLimit` devices.
    case names
}

/// One entry of a list.
package struct Addressee: Sendable, Hashable {
    package var address: Address
    /// A display name that the caller knows it by.
    package var name: String?

    package init(_ address: Address, name: String? = nil) {
        self.address = address
        self.name = name
    }
}
