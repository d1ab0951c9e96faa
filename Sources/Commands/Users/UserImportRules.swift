package import Model
package import Store
package import TransferStore

/// The rules for users and groups of a tenant's export.
package enum UserImportRules {
    /// 500 users per transaction.
    package static let pageCount = 500

    /// Creates the profiles of those users that have none. A user that is known keeps its attributes, settings and aliases. The answer states for each user
    /// whether it is new.
    package static func new(_ users: [ImportedUser], _ stored: [StoredProfile?], _ scope: AppScope) -> StoreRequest<
        [Bool]
    > {
        let isNew = zip(users, stored).map { $1?.revision ?? 0 == 0 }
        let missing = zip(users, isNew).filter(\.1).map(\.0)
        let write = UserWrite(
            profiles: missing.map { user in
                StoredProfile(
                    user: user.user,
                    isAnonymous: user.isAnonymous,
                    acceptsPush: user.acceptsPush,
                    isOptedIn: user.isOptedIn,
                    attributes: user.attributes
                )
            },
            aliases: missing.flatMap { user in user.aliases.map { UserWrite.Alias($0, of: user.user) } }
        )
        return StoreRequest(PutUsers(scope, write)) { _ in isNew }
    }

    /// Finds the profiles of users.
    package static func profiles(of users: [ImportedUser], _ scope: AppScope) -> StoreRequest<[StoredProfile?]> {
        StoreRequest(FindProfiles(scope, users.map { .id($0.user) })) { $0 }
    }

    /// Applies consents and groups to users. The answer states for each whether it was changed.
    package static func people(_ people: [ImportPeople.Person], _ scope: AppScope) -> StoreRequest<[Bool]> {
        StoreRequest(ImportPeople(scope, people)) { $0 }
    }

    /// Creates a group unless it exists. The answer states whether it is new.
    package static func group(_ name: GroupName, _ scope: AppScope) -> StoreRequest<Bool> {
        StoreRequest(PutGroup(scope, name)) { $0 ?? false }
    }

    /// Writes the end of an import of a tenant's users or groups to the audit, with its counts.
    package static func end(
        _ what: String,
        created: Int,
        unchanged: Int,
        _ scope: AppScope,
        by actor: AuditActor
    ) -> StoreRequest<Void> {
        let data: JSON = ["created": .int(created), "unchanged": .int(unchanged)]
        let record = AuditRecord(.imported, "\(what) of app \(scope.app), \(scope.vendor)", data: data)
        return StoreRequest(WriteAudit([record], by: actor)) { (_: Void) in }
    }

    /// The name of the first field that cannot be stored; nil if all can be.
    package static func unstorableField(_ user: ImportedUser) -> String? {
        guard ProfileRules.isStorable(.id(user.user)) else { return "user" }
        guard Storable.fits(.object(user.attributes), CommandLimits.userAttributeBytes) else { return "attributes" }
        guard user.aliases.allSatisfy({ ProfileRules.isStorable(.alias($0)) }) else { return "aliases" }
        guard user.consents.count <= CommandLimits.subjectsPerUser else { return "consents" }
        for consent in user.consents {
            guard Storable.isKey(consent.subject), Storable.fits(consent.source, CommandLimits.keyBytes) else {
                return "consents"
            }
        }
        return nil
    }

    /// Whether a group can have the name.
    package static func isStorable(_ group: GroupName) -> Bool { Storable.isKey(group.rawValue) }

    /// Whether a user can have the name.
    package static func isStorable(_ user: UserID) -> Bool { ProfileRules.isStorable(.id(user)) }
}
