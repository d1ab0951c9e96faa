/// Named sets of users that back ends maintain and send to.
package enum GroupCommand: Sendable, Hashable {
    /// Creates the group unless it exists.
    case put(GroupName)
    /// Its members remain users; the name can be used again.
    case delete(GroupName)
    case find(GroupName)
    /// Removes users, then adds others: a user in both lists is a member. At most `GroupChange.limit` of both together.
    case changeMembers(GroupName, GroupChange)
    /// Creates a group whose name is the next number.
    case create(title: String)
    /// One, or (nil) all.
    case list(GroupName?)
    /// The groups of a user, by name; at most 1,000.
    case groups(of: UserID)
    /// Members of one group, all or (with a user) that one.
    case members(GroupName, UserID?)
}

/// Who enters a group and who leaves it.
package struct GroupChange: Sendable, Hashable {
    /// 1,000 users in one call: they are one transaction, whose counts the group's other changes wait for.
    package static let limit = 1000

    package var add: [UserID]
    package var remove: [UserID]

    package init(add: [UserID] = [], remove: [UserID] = []) {
        self.add = add
        self.remove = remove
    }
}

/// One group.
package struct GroupFacts: Sendable, Hashable {
    package var name: GroupName
    /// Users in it, with a device or without; maintained.
    package var memberCount: Int
    package var createdAt: Timestamp

    package init(name: GroupName, memberCount: Int, createdAt: Timestamp) {
        self.name = name
        self.memberCount = memberCount
        self.createdAt = createdAt
    }
}

/// A group with what people call it.
package struct TitledGroup: Sendable, Hashable {
    package var name: GroupName
    package var title: String

    package init(name: GroupName, title: String) {
        self.name = name
        self.title = title
    }
}

/// A user in a group, with the name that the newest of the user's devices gave.
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
    /// How many users were not in it before, and how many were.
    case membersChanged(added: Int, removed: Int)
    case created(TitledGroup)
    case listed([TitledGroup])
    case groups([GroupFacts])
    case members([GroupMember])
}
