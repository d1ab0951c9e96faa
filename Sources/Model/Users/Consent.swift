/// Restricts a message's audience by the consent of its users to pushes.
package enum ConsentRule: String, Sendable, Hashable, CaseIterable {
    /// Users who opted in. A user without a recorded consent did not.
    case optedIn
    /// Users who did not opt out.
    case subscribed
    /// All users, including those who opted out.
    case all
}

/// Consents of users to one subject.
package struct ConsentChange: Sendable, Hashable {
    package var subject: String
    package var state: ConsentState
    /// An unknown user is created if named by id, and ignored if named by alias.
    package var users: [UserName]

    package init(subject: String, state: ConsentState, users: [UserName]) {
        self.subject = subject
        self.state = state
        self.users = users
    }
}
