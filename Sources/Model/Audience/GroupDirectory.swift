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
