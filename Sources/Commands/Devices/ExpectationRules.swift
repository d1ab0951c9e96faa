package import Model
package import Store

/// The rules for users of whom a back end expects registrations.
package enum ExpectationRules {
    /// The answer to a list of expected users.
    package enum Outcome: Sendable, Hashable {
        /// How many users are expected by this call.
        case expected(Int)
        case unknownApp
        /// The app would have more than `CommandLimits.expectedUsersPerApp`.
        case tooMany
        /// The field that is not usable, and why.
        case invalid(String, String)
    }

    /// Expects registrations of users; an earlier expectation of a user is replaced. All or nothing.
    package static func expect(
        _ users: [ExpectedUser],
        of app: AppID,
        at now: Timestamp,
        by actor: AuditActor
    ) -> StoreRequest<Outcome> {
        if let (field, fault) = fault(of: users, at: now) { return .settled(.invalid(field, fault)) }
        let operation = PutExpectedUsers(app, users, limit: CommandLimits.expectedUsersPerApp, by: actor)
        return StoreRequest(operation) { outcome in
            switch outcome {
            case .put(let count): .expected(count)
            case .unknownApp: .unknownApp
            case .tooMany: .tooMany
            }
        }
    }

    /// Ends the expectation of a user. The answer is whether there was one.
    package static func drop(_ user: UserID, of app: AppID, by actor: AuditActor) -> StoreRequest<Bool> {
        StoreRequest(DropExpectedUser(app, user, by: actor)) { $0 }
    }

    private static func fault(of users: [ExpectedUser], at now: Timestamp) -> (String, String)? {
        guard (1...CommandLimits.expectedUsersPerCall).contains(users.count) else {
            return ("users", "must list 1 to \(CommandLimits.expectedUsersPerCall) users")
        }
        // The same limit as for addresses of registrations; a longer user could never register.
        guard users.allSatisfy({ Storable.isKey($0.user.rawValue) }) else {
            return ("users", "a user must have 1 to \(CommandLimits.keyBytes) bytes")
        }
        guard Set(users.map(\.user)).count == users.count else { return ("users", "must not list a user twice") }
        guard users.allSatisfy({ $0.phone.map(Storable.isKey) ?? true }) else {
            return ("users", "a phone must have 1 to \(CommandLimits.keyBytes) digits")
        }
        let days = CommandLimits.expectationAhead.components.seconds / 86_400
        let last = now.milliseconds + CommandLimits.expectationAhead.milliseconds
        guard users.allSatisfy({ (now.milliseconds + 1...last).contains($0.endsAt.milliseconds) }) else {
            return ("users", "endsAt must be in the future, at most \(days) days ahead")
        }
        return nil
    }
}
