/// Named sets of users that back ends maintain and send to.
package enum GroupCommand: Sendable, Hashable {
    /// Creates the group unless it exists.
    case put(GroupName)
    /// Deletes the group. Its members remain users, and the name can be used again.
    case delete(GroupName)
    case find(GroupName)
    /// Removes users, then adds others, so that a user in both lists is a member. At most `GroupChange.limit` of both together.
    case changeMembers(GroupName, GroupChange)
    /// Creates a group whose name is the next number.
    case create(title: String)
    /// Stores a group that an upstream has created, under the upstream's name. An empty title keeps a stored one. The reply is `put`. Only the answer of an
    /// upstream becomes this command.
    case adopt(TitledGroup)
    /// Lists one group, or (nil) all.
    case list(GroupName?)
    /// Lists the groups of a user by name, at most 1,000.
    case groups(of: UserID)
    /// Lists the members of one group, or checks the given user.
    case members(GroupName, UserID?)
}

/// The users to add to a group and to remove from it. If a device makes the change, all of them must be its user.
package struct GroupChange: Sendable, Hashable {
    /// 1,000 users in one call: they are one transaction, and other changes of the group wait for its counts.
    package static let limit = 1000

    package var add: [UserID]
    package var remove: [UserID]
    package var device: DeviceCaller?

    package init(add: [UserID] = [], remove: [UserID] = []) {
        self.add = add
        self.remove = remove
    }
}

/// A group and its number of members.
package struct GroupFacts: Sendable, Hashable {
    package var name: GroupName
    /// The number of users in it, with or without a device. The counter is maintained.
    package var memberCount: Int
    package var createdAt: Timestamp

    package init(name: GroupName, memberCount: Int, createdAt: Timestamp) {
        self.name = name
        self.memberCount = memberCount
        self.createdAt = createdAt
    }
}

/// A group with a title for display.
package struct TitledGroup: Sendable, Hashable {
    package var name: GroupName
    package var title: String

    package init(name: GroupName, title: String) {
        self.name = name
        self.title = title
    }
}

/// A user in a group, with the name that the user's newest device reported.
package struct GroupMember: Sendable, Hashable {
    package var group: TitledGroup
    package var user: UserID
    package var name: String?

    package init(group: TitledGroup, user: UserID, name: String?) {
        self.group = group
        self.user = user
        self.name = name
    }
}

/// The result of a group command.
package enum GroupReply: Sendable, Hashable {
    case put(isNew: Bool)
    case deleted
    case found(GroupFacts)
    /// How many users joined the group and how many left it.
    case membersChanged(added: Int, removed: Int)
    case created(TitledGroup)
    case listed([TitledGroup])
    case groups([GroupFacts])
    case members([GroupMember])
}
