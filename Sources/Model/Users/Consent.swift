/// What a user said to being told of something.
package enum ConsentState: String, Sendable, Hashable, CaseIterable {
    case subscribed, unsubscribed
}

/// Whom a message is for, by what its users said to pushes.
package enum ConsentRule: String, Sendable, Hashable, CaseIterable {
    /// Who asked for pushes. Who never said anything did not.
    case optedIn
    /// Who did not decline them.
    case subscribed
    /// Also who declined them.
    case all
}

/// What users say to one subject, of which a user may be told or not.
package struct ConsentChange: Sendable, Hashable {
    package var subject: String
    package var state: ConsentState
    /// One by id who is not known becomes known; one by alias who is not stays unknown.
    package var users: [UserName]

    package init(subject: String, state: ConsentState, users: [UserName]) {
        self.subject = subject
        self.state = state
        self.users = users
    }
}
