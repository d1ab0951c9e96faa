import Model
import Store

/// The rules for users' consent to subjects, and to pushes in general.
enum ConsentRules {
    static func plan(_ changes: [ConsentChange], _ context: RuleContext) -> UserPlan {
        guard changes.allSatisfy({ isStorable($0.subject) }) else { return .refused(.invalid("subject")) }
        guard changes.reduce(0, { $0 + $1.users.count }) <= CommandLimits.usersPerCall else {
            return .refused(.tooMany("users", limit: CommandLimits.usersPerCall))
        }
        let names = Set(changes.flatMap(\.users)).sorted { $0.text < $1.text }
        guard names.allSatisfy(ProfileRules.isStorable) else { return .refused(.invalid("user")) }
        return UserPlan(FindProfiles(context.scope, names)) { profiles in
            var drafts = Drafts(names, profiles, context.identifiers)
            var count = 0
            for change in changes {
                for name in change.users {
                    guard let user = user(name, &drafts) else { continue }
                    var profile = drafts[user]
                    guard profile.consent(to: [change.subject: change.state]) else {
                        return .refused(.tooMany("subjects", limit: CommandLimits.subjectsPerUser))
                    }
                    drafts[user] = profile
                    count += 1
                }
            }
            let write = UserWrite(profiles: drafts.profiles, aliases: drafts.aliases)
            let reply = Reply.user(.consented(count))
            guard !write.isEmpty else { return .settled(reply) }
            return Plan(PutUsers(context.scope, write)) { _ in reply }
        }
    }

    private static func user(_ name: UserName, _ drafts: inout Drafts) -> UserID? {
        if case .id = name { drafts.userOrNew(name) } else { drafts.user(name) }
    }

    static func isStorable(_ subject: String) -> Bool { Storable.isKey(subject) }
}

extension StoredProfile {
    /// Adds the consents. False if the user would have too many; then nothing changes. A user who has too many already can still decide about those.
    mutating func consent(to changes: [String: ConsentState]) -> Bool {
        let all = consents.merging(changes) { $1 }
        guard changes.isEmpty || all.count <= max(CommandLimits.subjectsPerUser, consents.count),
            changes.keys.allSatisfy(ConsentRules.isStorable)
        else { return false }
        consents = all
        decided.formUnion(changes.keys)
        return true
    }

    /// Copies the decisions of another user where this user has made none.
    mutating func adopt(_ other: StoredProfile) {
        if acceptsPush == nil {
            acceptsPush = other.acceptsPush
            isOptedIn = other.isOptedIn
        }
        // Two users within their limits may exceed the limit together; then the user keeps its own.
        let all = other.consents.merging(consents) { $1 }
        if all.count <= CommandLimits.subjectsPerUser { consents = all }
    }
}
