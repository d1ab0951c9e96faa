import Model
import Store

/// The rules for users as back ends describe them.
enum ProfileRules {
    static func plan(_ command: UserCommand, _ context: RuleContext) -> UserPlan {
        switch command {
        case .track(let batch): TrackRules(batch: batch, context: context).plan
        case .describe(let names, let members): describe(names, messages: members, context)
        case .erase(let names): erase(names, context)
        case .name(let users): name(users, context)
        case .identify(let users): identify(users, context)
        case .merge(let merges): merge(merges, context)
        case .consent(let changes): ConsentRules.plan(changes, context)
        }
    }

    /// The same limit as for addresses. U+001F separates the parts of an alias.
    static func isStorable(_ name: UserName) -> Bool {
        switch name {
        case .id(let id): Storable.isKey(id.rawValue) && !id.rawValue.hasPrefix("\u{1F}")
        case .alias(let alias):
            !alias.label.isEmpty && !alias.name.isEmpty && Storable.isKey(name.text.rawValue)
                && !(alias.label + alias.name).utf8.contains(0x1F)
        }
    }

    private static func tooMany(_ count: Int) -> UserPlan? {
        count <= CommandLimits.usersPerCall
            ? nil : .refused(.tooMany("users", limit: CommandLimits.usersPerCall))
    }

    // MARK: Describing and erasing

    private static func describe(_ names: [UserName], messages members: [String], _ context: RuleContext) -> UserPlan {
        if let refused = tooMany(names.count) { return refused }
        // A name that cannot be stored does not belong to any user.
        let asked = names.filter(isStorable)
        return UserPlan(FindProfiles(context.scope, asked)) { profiles in
            let users = Set(profiles.compactMap { $0?.user }).sorted()
            @Sendable func described(_ own: Details) -> Reply {
                var rest = profiles[...]
                return .user(
                    .described(
                        names.map { name in
                            guard isStorable(name), let profile = rest.popFirst(), let profile else { return nil }
                            return own.described(profile, of: context.scope.app)
                        }
                    )
                )
            }
            guard !users.isEmpty else { return .settled(described(Details())) }
            let details = StoreRequest(
                ListAliases(context.scope, of: users, limit: CommandLimits.describedAliases),
                ListTallies(context.scope, of: users, limit: CommandLimits.describedTallies),
                ListUserDevices(context.scope, of: users, limit: CommandLimits.describedDevices)
            ) { aliases, tallies, devices in
                Details(aliases, tallies, devices)
            }
            if members.isEmpty { return details.map(described) }
            let limit = CommandLimits.describedMessages
            let sent = ListSentMessages(context.scope, to: users, by: members, limit: limit)
            return details.adding(sent) { $0.note($1) }.map(described)
        }
    }

    /// The data related to users.
    private struct Details: Sendable {
        private let aliases: [UserID: [UserAlias]]
        private let tallies: [UserID: [ActTally]]
        private let devices: [UserID: [UserDevice]]
        private var messages: [UserID: [SentMessages]] = [:]

        init(
            _ aliases: [UsersOwn<UserAlias>] = [],
            _ tallies: [UsersOwn<ActTally>] = [],
            _ devices: [UsersOwn<UserDevice>] = []
        ) {
            self.aliases = Self.byUser(aliases)
            self.tallies = Self.byUser(tallies)
            self.devices = Self.byUser(devices)
        }

        mutating func note(_ messages: [UsersOwn<SentMessages>]) { self.messages = Self.byUser(messages) }

        private static func byUser<Value>(_ found: [UsersOwn<Value>]) -> [UserID: [Value]] {
            Dictionary(grouping: found, by: \.user).mapValues { $0.map(\.value) }
        }

        func described(_ profile: StoredProfile, of app: AppID) -> DescribedUser {
            DescribedUser(
                app: app,
                user: profile.user,
                isAnonymous: profile.isAnonymous,
                attributes: profile.attributes,
                consents: profile.consents,
                aliases: aliases[profile.user] ?? [],
                tallies: tallies[profile.user] ?? [],
                devices: devices[profile.user] ?? [],
                messages: messages[profile.user] ?? []
            )
        }
    }

    private static func erase(_ names: [UserName], _ context: RuleContext) -> UserPlan {
        if let refused = tooMany(names.count) { return refused }
        let asked = names.filter(isStorable)
        return UserPlan(FindProfiles(context.scope, asked)) { profiles in
            // Includes ids that only devices without a current registration refer to.
            let ids = asked.compactMap { name in if case .id(let id) = name { id } else { nil } }
            let users = Set(ids + profiles.compactMap { $0?.user }).sorted()
            let actor = context.call.actor ?? "vendor:\(context.call.vendor)"
            return ErasureRules.erase(users, .dialect(context.scope), by: actor).map { .user(.erased($0)) }
        }
    }

    // MARK: Names

    private static func names(of users: [NamedUser]) -> [UserName] {
        let all = users.flatMap { [$0.user.map { .id($0) }, .alias($0.alias)].compactMap(\.self) } as [UserName]
        return Set(all).sorted { $0.text < $1.text }
    }

    private static func refusal(of users: [NamedUser]) -> UserPlan? {
        names(of: users).allSatisfy(isStorable) ? tooMany(users.count) : .refused(.invalid("user"))
    }

    /// Users with an id must exist; those without one are created.
    private static func name(_ users: [NamedUser], _ context: RuleContext) -> UserPlan {
        if let refused = refusal(of: users) { return refused }
        let names = names(of: users)
        return UserPlan(FindProfiles(context.scope, names)) { profiles in
            var drafts = Drafts(names, profiles, context.identifiers)
            var count = 0
            for entry in users where drafts.user(.alias(entry.alias)) == nil {
                if let id = entry.user {
                    guard let user = drafts.user(.id(id)) else { continue }
                    drafts.name(entry.alias, user)
                } else {
                    _ = drafts.userOrNew(.alias(entry.alias))
                }
                count += 1
            }
            let write = UserWrite(profiles: drafts.profiles, aliases: drafts.aliases)
            let reply = Reply.user(.named(count))
            guard !write.isEmpty else { return .settled(reply) }
            return Plan(PutUsers(context.scope, write)) { _ in reply }
        }
    }

    private static func identify(_ users: [NamedUser], _ context: RuleContext) -> UserPlan {
        if let refused = refusal(of: users) { return refused }
        let names = names(of: users)
        return UserPlan(FindProfiles(context.scope, names)) { profiles in
            var drafts = Drafts(names, profiles, context.identifiers)
            var moves: [UserWrite.Move] = []
            var count = 0
            for entry in users {
                guard let id = entry.user, let from = drafts.user(.alias(entry.alias)) else { continue }
                if moves.contains(where: { $0.from == from }) { continue }
                // An alias of a user who already has an id belongs to that user.
                guard drafts[from].isAnonymous || from == id else { continue }
                count += 1
                guard from != id else { continue }
                let user = drafts.userOrNew(.id(id))
                drafts.absorb(from, into: user)
                moves.append(UserWrite.Move(from: from, to: user))
            }
            let write = UserWrite(profiles: drafts.profiles, moves: moves)
            let reply = Reply.user(.identified(count))
            guard !write.isEmpty else { return .settled(reply) }
            return Plan(PutUsers(context.scope, write)) { _ in reply }
        }
    }

    private static func merge(_ merges: [UserMerge], _ context: RuleContext) -> UserPlan {
        if let refused = tooMany(merges.count) { return refused }
        let names = Set(merges.flatMap { [$0.from, $0.into] }).sorted { $0.text < $1.text }
        guard names.allSatisfy(isStorable) else { return .refused(.invalid("user")) }
        return UserPlan(FindProfiles(context.scope, names)) { profiles in
            var drafts = Drafts(names, profiles, context.identifiers)
            var moves: [UserWrite.Move] = []
            for merge in merges {
                guard let from = drafts.user(merge.from), let user = drafts.user(merge.into), from != user else {
                    continue
                }
                // A user that was merged into another one in this call does not exist any longer.
                if moves.contains(where: { $0.from == from || $0.from == user }) { continue }
                drafts.absorb(from, into: user)
                moves.append(UserWrite.Move(from: from, to: user))
            }
            let reply = Reply.user(.merged(moves.count))
            guard !moves.isEmpty else { return .settled(reply) }
            let write = UserWrite(profiles: drafts.profiles, moves: moves)
            return Plan(PutUsers(context.scope, write)) { _ in reply }
        }
    }
}

extension Drafts {
    /// Copies the data that `user` lacks from `from`, which is to be merged into it.
    fileprivate mutating func absorb(_ from: UserID, into user: UserID) {
        let left = self[from]
        var profile = self[user]
        for (name, value) in left.attributes.pairs where profile.attributes[name] == nil {
            profile.attributes[name] = value
        }
        // Two users within their limits may exceed the limit together; then the user keeps its own.
        if profile.attributes.count > CommandLimits.userAttributes
            || !Storable.fits(.object(profile.attributes), CommandLimits.userAttributeBytes)
        {
            profile.attributes = self[user].attributes
        }
        profile.adopt(left)
        self[user] = profile
        keep(user)
        // Its revision is checked, so that a concurrent change of the user by another call is not lost with it.
        touch(from)
    }
}
