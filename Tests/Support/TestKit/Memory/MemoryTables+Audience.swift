import Commands
import Model

extension MemoryTables {
    mutating func putGroup(_ tenant: TenantID, _ scope: AppScope, _ name: GroupName, now: Timestamp) -> Bool? {
        guard apps[Scoped(tenant, scope.app)] != nil else { return nil }
        let index = Scoped(tenant, GroupIndex(scope: scope, name: name))
        guard groups[index] == nil else { return false }
        groups[index] = GroupRow(createdAt: now)
        return true
    }

    mutating func deleteGroup(_ tenant: TenantID, _ scope: AppScope, _ name: GroupName) -> Int {
        groups.removeValue(forKey: Scoped(tenant, GroupIndex(scope: scope, name: name))) == nil ? 0 : 1
    }

    func groupFacts(_ tenant: TenantID, _ scope: AppScope, _ names: [GroupName]) -> [GroupFacts] {
        Set(names).sorted().compactMap { name in
            groups[Scoped(tenant, GroupIndex(scope: scope, name: name))].map {
                GroupFacts(name: name, memberCount: $0.members.count, createdAt: $0.createdAt)
            }
        }
    }

    mutating func changeMembers(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ name: GroupName,
        _ change: GroupChange
    ) -> MemberCounts? {
        let index = Scoped(tenant, GroupIndex(scope: scope, name: name))
        guard var row = groups[index] else { return nil }
        let removed = row.members.intersection(change.remove)
        row.members.subtract(removed)
        let added = Set(change.add).subtracting(row.members)
        row.members.formUnion(added)
        groups[index] = row
        return MemberCounts(added: added.count, removed: removed.count)
    }

    /// Every active identity of a user, in the order of their ids.
    func resolveUser(_ tenant: TenantID, _ scope: AppScope, _ user: UserID) -> [UserTarget] {
        activeIdentities(tenant, scope).compactMap { id in
            guard let row = identities[Scoped(tenant, id)], row.user == user else { return nil }
            let device = devices[Scoped(tenant, row.device)]
            let isReachable = device?.tokenState == .active && device?.token != nil
            let target = ResolvedTarget(
                identity: id,
                device: row.device,
                isReachable: isReachable,
                clock: device?.clock ?? .unset
            )
            return UserTarget(user: user, found: target)
        }
    }

    /// Active identities that a message is for, in the order of their ids; in the native dialect the first on each device.
    func meantIdentities(_ tenant: TenantID, _ scope: AppScope, _ audience: Audience?) -> [IdentityID] {
        let active = activeIdentities(tenant, scope)
        guard audience != nil || scope.vendor == .native else { return active }
        var devices: Set<DeviceID> = []
        return active.filter { id in
            guard let row = identities[Scoped(tenant, id)], isMeant(row, tenant, scope, audience) else { return false }
            return scope.vendor != .native || devices.insert(row.device).inserted
        }
    }

    private func isMeant(_ row: IdentityRow, _ tenant: TenantID, _ scope: AppScope, _ audience: Audience?) -> Bool {
        switch audience {
        case nil, .everyone: true
        case .listed: false
        case .users(let users): row.user.map(users.contains) ?? false
        case .groups(let names):
            names.contains { name in
                let members = groups[Scoped(tenant, GroupIndex(scope: scope, name: name))]?.members ?? []
                return row.user.map(members.contains) ?? false
            }
        case .tags(let expression): expression.matches(row.tags)
        }
    }
}
