import Commands
import DeliveryEngine
import Model

/// Users as back ends describe them.
extension MemoryTables {
    struct UserIndex: Hashable, Sendable {
        var scope: AppScope
        var user: UserID
    }
    struct AliasIndex: Hashable, Sendable {
        var scope: AppScope
        var alias: UserAlias
    }
    struct TallyIndex: Hashable, Sendable {
        var kind: UserAct.Kind
        var name: String
    }
    struct ProfileRow: Sendable {
        var profile: StoredProfile
        var digests: Set<String> = []
        var tallies: [TallyIndex: ActTally] = [:]
    }

    mutating func runUsers(_ statement: StoreStatement, in tenant: TenantID, now: Timestamp) -> StoreAnswer {
        switch statement {
        case .profiles(let scope, let names): .profiles(names.map { profile(tenant, scope, $0) })
        case .knownTokens(let scope, let tokens): .tokens(knownTokens(tenant, scope, tokens, now))
        case .putUsers(let scope, let write): .usersPut(isRepeat: put(tenant, scope, write))
        case .userDetails(let scope, let detail, let users, let limit):
            details(tenant, scope, detail, users, max(0, limit))
        case .eraseUsers(let scope, let users, _): .count(eraseUsers(tenant, scope, Set(users)))
        case .resolveNames(let scope, let users, let limit):
            .resolvedUsers(Array(users.flatMap { resolveName(tenant, scope, $0) }.prefix(max(0, limit))))
        default: .count(0)
        }
    }

    /// Whether another call changed a user after this one had read it.
    func isOvertaken(_ statement: StoreStatement, in tenant: TenantID) -> Bool {
        guard case .putUsers(let scope, let write) = statement, !isRepeat(tenant, scope, write) else { return false }
        return write.profiles.contains {
            $0.revision != profiles[Scoped(tenant, UserIndex(scope: scope, user: $0.user))]?.profile.revision ?? 0
        }
    }

    private func isRepeat(_ tenant: TenantID, _ scope: AppScope, _ write: UserWrite) -> Bool {
        write.repeatKey.map { batches.contains(Scoped(tenant, IdempotencyIndex(scope: scope, key: $0))) } ?? false
    }

    private func rows(of user: UserID, _ tenant: TenantID, _ scope: AppScope) -> [IdentityRow] {
        identities.filter { $0.key.tenant == tenant && $0.value.scope == scope && $0.value.user == user }.map(\.value)
    }

    // MARK: Reading

    private func user(_ name: UserName, _ tenant: TenantID, _ scope: AppScope) -> UserID? {
        switch name {
        case .id(let id): id
        case .alias(let alias): userAliases[Scoped(tenant, AliasIndex(scope: scope, alias: alias))]
        }
    }

    private func profile(_ tenant: TenantID, _ scope: AppScope, _ name: UserName) -> StoredProfile? {
        guard let user = user(name, tenant, scope) else { return nil }
        if let row = profiles[Scoped(tenant, UserIndex(scope: scope, user: user))] { return row.profile }
        let hasDevice = rows(of: user, tenant, scope).contains { $0.state == .active }
        return hasDevice ? StoredProfile(user: user) : nil
    }

    private func knownTokens(_ tenant: TenantID, _ scope: AppScope, _ tokens: [DeviceToken], _ now: Timestamp)
        -> Set<DeviceToken>
    {
        let held = activeIdentities(tenant, scope).compactMap { id -> DeviceToken? in
            guard let row = identities[Scoped(tenant, id)], row.endsAt.map({ $0 > now }) ?? true else { return nil }
            return devices[Scoped(tenant, row.device)]?.token
        }
        return Set(tokens).intersection(held)
    }

    private func resolveName(_ tenant: TenantID, _ scope: AppScope, _ text: UserID) -> [UserTarget] {
        guard let user = user(UserName(text: text), tenant, scope) else { return [] }
        return resolveUser(tenant, scope, user).map { UserTarget(user: text, found: $0.found) }
    }

    private func details(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ detail: UserDetail,
        _ users: [UserID],
        _ limit: Int
    ) -> StoreAnswer {
        let users = users.sorted()
        switch detail {
        case .aliases:
            let found = userAliases.filter { $0.key.tenant == tenant && $0.key.value.scope == scope }
                .filter { users.contains($0.value) }
                .map { UsersOwn(user: $0.value, value: $0.key.value.alias) }
                .sorted { ($0.user, $0.value.label, $0.value.name) < ($1.user, $1.value.label, $1.value.name) }
            return .userAliases(Array(found.prefix(limit)))
        case .tallies:
            let found = users.flatMap { user in
                let row = profiles[Scoped(tenant, UserIndex(scope: scope, user: user))]
                let latest = (row?.tallies.values).map(Array.init)?.sorted { $0.lastAt > $1.lastAt }.prefix(limit) ?? []
                return latest.sorted { ($0.kind.rawValue, $0.name) < ($1.kind.rawValue, $1.name) }
                    .map { UsersOwn(user: user, value: $0) }
            }
            return .userTallies(found)
        case .devices:
            let found = users.flatMap { user in
                rows(of: user, tenant, scope).filter { $0.state == .active }.sorted { $0.key < $1.key }.prefix(limit)
                    .compactMap { row -> UsersOwn<UserDevice>? in
                        guard let device = devices[Scoped(tenant, row.device)] else { return nil }
                        let token = device.tokenState == .active ? device.token : nil
                        let platform = device.platform
                        return UsersOwn(
                            user: user,
                            value: UserDevice(
                                key: row.key,
                                platform: platform,
                                token: token,
                                acceptsPush: row.isRung,
                                attributes: row.attributes
                            )
                        )
                    }
            }
            return .userDevices(found)
        case .messages(let members):
            return .userMessages(
                users.flatMap { user in
                    sent(tenant, scope, user, members, limit).map { UsersOwn(user: user, value: $0) }
                }
            )
        }
    }

    private func sent(_ tenant: TenantID, _ scope: AppScope, _ user: UserID, _ members: [String], _ limit: Int)
        -> [SentMessages]
    {
        let states: Set<DeliveryState> = [.sent, .received, .read]
        let newest = deliveries.filter { key, row in
            key.tenant == tenant && row.result.user == user && states.contains(row.state) && !row.awaitsOutcome
                && messages[Scoped(tenant, key.value.message)]?.message.scope == scope
        }.sorted { $0.key.value.message > $1.key.value.message }.prefix(limit)
        var found: [JSONObject: SentMessages] = [:]
        for (key, row) in newest {
            let all = messages[Scoped(tenant, key.value.message)]?.message.content.data ?? JSONObject()
            var data = JSONObject()
            for name in members { data[name] = all[name] }
            guard !data.isEmpty else { continue }
            var sum = found[data] ?? SentMessages(data: data, lastAt: row.result.at, isRead: false)
            sum.lastAt = max(sum.lastAt, row.result.at)
            sum.isRead = sum.isRead || row.readAt != nil
            found[data] = sum
        }
        return found.values.sorted {
            ($1.lastAt, JSONWriter.text(.object($0.data))) < ($0.lastAt, JSONWriter.text(.object($1.data)))
        }
    }

    // MARK: Writing

    /// Whether the batch came before; then nothing is done.
    private mutating func put(_ tenant: TenantID, _ scope: AppScope, _ write: UserWrite) -> Bool {
        guard !isRepeat(tenant, scope, write) else { return true }
        if let key = write.repeatKey { batches.insert(Scoped(tenant, IdempotencyIndex(scope: scope, key: key))) }
        for profile in write.profiles {
            let index = Scoped(tenant, UserIndex(scope: scope, user: profile.user))
            var row = profiles[index] ?? ProfileRow(profile: profile)
            row.profile = profile
            row.profile.revision += 1
            profiles[index] = row
            guard let accepts = profile.acceptsPush else { continue }
            for identity in rows(of: profile.user, tenant, scope) {
                identities[Scoped(tenant, identity.id)]?.acceptsPush = accepts
            }
        }
        for alias in write.aliases {
            let index = Scoped(tenant, AliasIndex(scope: scope, alias: alias.alias))
            userAliases[index] = userAliases[index] ?? alias.user
        }
        for move in write.moves { self.move(tenant, scope, move) }
        for act in write.acts { note(tenant, scope, act) }
        return false
    }

    private mutating func note(_ tenant: TenantID, _ scope: AppScope, _ act: UserWrite.Act) {
        let index = Scoped(tenant, UserIndex(scope: scope, user: act.user))
        guard profiles[index]?.digests.insert(act.digest).inserted == true else { return }
        let tally = ActTally(kind: act.kind, name: act.name, count: 1, firstAt: act.at, lastAt: act.at)
        add(tally, index)
    }

    private mutating func add(_ tally: ActTally, _ index: Scoped<UserIndex>) {
        let place = TallyIndex(kind: tally.kind, name: tally.name)
        var sum = tally
        if let old = profiles[index]?.tallies[place] {
            sum.count += old.count
            sum.firstAt = min(old.firstAt, tally.firstAt)
            sum.lastAt = max(old.lastAt, tally.lastAt)
        }
        profiles[index]?.tallies[place] = sum
    }

    private mutating func move(_ tenant: TenantID, _ scope: AppScope, _ move: UserWrite.Move) {
        let accepts = profiles[Scoped(tenant, UserIndex(scope: scope, user: move.to))]?.profile.acceptsPush
        for identity in rows(of: move.from, tenant, scope) {
            identities[Scoped(tenant, identity.id)]?.user = move.to
            identities[Scoped(tenant, identity.id)]?.acceptsPush = accepts ?? identity.acceptsPush
        }
        for index in groups.keys where index.tenant == tenant && index.value.scope == scope {
            if groups[index]?.members.remove(move.from) != nil { groups[index]?.members.insert(move.to) }
        }
        for (index, user) in userAliases
        where index.tenant == tenant && index.value.scope == scope && user == move.from {
            userAliases[index] = move.to
        }
        let to = Scoped(tenant, UserIndex(scope: scope, user: move.to))
        guard let left = profiles.removeValue(forKey: Scoped(tenant, UserIndex(scope: scope, user: move.from))) else {
            return
        }
        profiles[to]?.digests.formUnion(left.digests)
        for tally in left.tallies.values { add(tally, to) }
    }

    /// With identities, and devices that nobody else uses.
    private mutating func eraseUsers(_ tenant: TenantID, _ scope: AppScope, _ users: Set<UserID>) -> Int {
        let gone = users.filter {
            profiles[Scoped(tenant, UserIndex(scope: scope, user: $0))] != nil || !rows(of: $0, tenant, scope).isEmpty
        }
        for user in gone {
            for index in groups.keys where index.tenant == tenant && index.value.scope == scope {
                groups[index]?.members.remove(user)
            }
            for row in rows(of: user, tenant, scope) { eraseIdentityAlone(tenant, row) }
            forgetProfile(user, tenant) { $0 == scope }
            forget(tenant, holder: "user:\(user)") { $0 == scope }
        }
        return gone.count
    }

    /// What a back end told of a user, in the scopes that `covers` names.
    mutating func forgetProfile(_ user: UserID, _ tenant: TenantID, _ covers: (AppScope) -> Bool) {
        for index in profiles.keys
        where index.tenant == tenant && index.value.user == user && covers(index.value.scope) {
            profiles[index] = nil
        }
        for (index, owner) in userAliases
        where index.tenant == tenant && owner == user && covers(index.value.scope) {
            userAliases[index] = nil
        }
    }
}
