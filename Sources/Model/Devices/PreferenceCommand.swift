/// What belongs to users and is kept for sending: the groups they are in, and what they chose on a device.
package enum PreferenceCommand: Sendable, Hashable {
    /// Makes the group unless it is there.
    case putGroup(GroupName)
    /// Its members stay who they are; the name is free again.
    case deleteGroup(GroupName)
    case group(GroupName)
    /// Takes users out, then others in: who stands in both is in. At most `GroupChange.limit` of both together.
    case changeMembers(GroupName, GroupChange)
    case preferences(DeviceCaller)
    case setPreferences(DeviceCaller, PreferenceChange)
    /// Makes a group that is called by the next number.
    case createGroup(title: String)
    /// One, or (nil) all.
    case listGroups(GroupName?)
    /// The groups that a user is in, by name; at most 1,000.
    case groups(of: UserID)
    /// Members of one group, all or (with a user) that one.
    case listMembers(GroupName, UserID?)
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

/// What came of a preference command.
package enum PreferenceReply: Sendable, Hashable {
    case groupPut(isNew: Bool)
    case groupDeleted
    case group(GroupFacts)
    /// How many were not in it before, and how many were.
    case membersChanged(added: Int, removed: Int)
    case preferences(DevicePreferences)
    case preferencesSet
    case groupCreated(TitledGroup)
    case groupList([TitledGroup])
    case groups([GroupFacts])
    case memberList([GroupMember])
}
