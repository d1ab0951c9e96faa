package import Model
import ObservationStore
package import Store
package import TransferStore

/// The rules for users and groups of a tenant's export.
package enum UserImportRules {
    /// 500 users per transaction.
    package static let pageCount = 500

    /// Which of the users have no profile yet. A user that is known keeps its attributes, settings and aliases.
    package static func new(_ users: [ImportedUser], _ stored: [StoredProfile?]) -> [ImportedUser] {
        zip(users, stored).filter { ($1?.revision ?? 0) == 0 }.map(\.0)
    }

    /// Creates the profiles of new users, at least one.
    package static func create(_ users: [ImportedUser], _ scope: AppScope) -> StoreRequest<Void> {
        let write = UserWrite(
            profiles: users.map { user in
                StoredProfile(
                    user: user.user,
                    isAnonymous: user.isAnonymous,
                    acceptsPush: user.acceptsPush,
                    isOptedIn: user.isOptedIn,
                    attributes: user.attributes
                )
            },
            aliases: users.flatMap { user in user.aliases.map { UserWrite.Alias($0, of: user.user) } }
        )
        return StoreRequest(PutUsers(scope, write)) { _ in }
    }

    /// Finds the profiles of users.
    package static func profiles(of users: [ImportedUser], _ scope: AppScope) -> StoreRequest<[StoredProfile?]> {
        StoreRequest(FindProfiles(scope, users.map { .id($0.user) })) { $0 }
    }

    /// Applies consents and groups to users. The answer states for each whether it was changed.
    package static func people(_ people: [ImportPeople.Person], _ scope: AppScope) -> StoreRequest<[Bool]> {
        StoreRequest(ImportPeople(scope, people)) { $0 }
    }

    /// Creates a group unless it exists, and gives it the title if it has none. The answer states whether it is new.
    package static func group(_ name: GroupName, title: String?, _ scope: AppScope) -> StoreRequest<Bool> {
        var request = StoreRequest<Bool>(PutGroup(scope, name)) { $0 ?? false }
        if let title { request = request.adding(SetGroupTitle(scope, name, title: title)) }
        guard let number = RaiseGroupNumbers.number(name.rawValue) else { return request }
        return request.adding(RaiseGroupNumbers(scope, to: number))
    }

    /// Stores messages that devices have not fetched at another gateway. The numbers of the gateway continue above theirs.
    package static func unread(_ messages: [UnreadMessage], _ scope: AppScope) -> StoreRequest<[ImportUnread.Outcome]> {
        let request = StoreRequest(ImportUnread(scope, messages)) { $0 }
        let numbers = messages.compactMap { $0.number.flatMap { Int64($0) } }.filter { (1..<numberLimit).contains($0) }
        guard let last = numbers.max() else { return request }
        return request.adding(RaiseNumbers(scope, from: last + 1))
    }

    /// Greater numbers are drawn from the time, and not counted.
    private static let numberLimit: Int64 = 1_000_000_000_000_000

    /// Whether a message can be stored.
    package static func isStorable(_ message: UnreadMessage) -> Bool {
        Storable.isKey(message.key.rawValue) && message.number.map(Storable.isKey) ?? true
            && SubmissionRules.fits(message.content) && Storable.fits(message.collapseID, CommandLimits.collapseBytes)
            && Storable.fits(.object(message.variables), CommandLimits.attributeBytes)
            && message.dueAt <= message.expiresAt
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

    /// Whether a group can have the name and the title.
    package static func isStorable(_ group: GroupName, title: String?) -> Bool {
        Storable.isKey(group.rawValue) && Storable.fits(title, CommandLimits.nameBytes)
    }

    /// Whether a user can have the name.
    package static func isStorable(_ user: UserID) -> Bool { ProfileRules.isStorable(.id(user)) }
}
