package import Model
package import Store

/// The rule for the erasure of users. Vendors and the native API differ only in its reach.
package enum ErasureRules {
    /// The part of a user's data that is erased.
    package enum Reach: Sendable, Hashable {
        /// The data in one dialect of an app. The answer is the number of users.
        case dialect(AppScope)
        /// The data in every app and dialect of the tenant. The answer is the number of identities.
        case everywhere
    }

    /// Erases users with the devices that no other user uses. Each erasure writes a row of the audit.
    package static func erase(_ users: [UserID], _ reach: Reach, by actor: String) -> StoreRequest<Int> {
        switch reach {
        case .dialect(let scope):
            guard !users.isEmpty else { return .settled(0) }
            return StoreRequest(EraseUsers(scope, users, by: actor)) { $0 }
        case .everywhere:
            let requests = users.map { user in StoreRequest<Int>(EraseUserEverywhere(user, by: actor)) { $0 } }
            return StoreRequest<[Int]>.all(requests).map { $0.reduce(0, +) }
        }
    }
}
