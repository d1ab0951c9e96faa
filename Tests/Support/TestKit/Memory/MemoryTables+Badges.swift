import Commands
import DeliveryEngine
import Model

/// Badges, numbers, and whose a device is.
extension MemoryTables {
    /// What a badge is counted for.
    struct HolderIndex: Hashable, Sendable {
        var scope: AppScope
        var holder: String
    }
    struct MarkIndex: Hashable, Sendable {
        var message: MessageID
        var holder: String
    }
    struct Mark: Sendable {
        var badge: Int?
        var isRead = false
    }
    struct ReferenceIndex: Hashable, Sendable {
        var scope: AppScope
        var reference: String
    }

    private func holder(_ row: IdentityRow) -> String {
        row.user.map { "user:\($0)" } ?? "key:\(row.key)"
    }

    mutating func assignUser(_ tenant: TenantID, _ scope: AppScope, _ key: VendorDeviceKey, _ change: UserChange)
        -> AssignedUser?
    {
        guard var row = identityRow(tenant, scope, key), row.state == .active else { return nil }
        switch change {
        case .keep: return AssignedUser(user: row.user)
        case .clear:
            row.user = nil
            row.name = nil
            identities[Scoped(tenant, row.id)] = row
            return AssignedUser(user: nil)
        case .set(let user, let name, let phone, let isExclusive):
            let others = identities.filter {
                $0.key.tenant == tenant && $0.value.scope == scope && $0.value.user == user && $0.value.id != row.id
            }
            let hasMoved = row.user != user && !others.isEmpty
            for (index, other) in others where isExclusive && other.state == .active {
                identities[index]?.user = nil
                identities[index]?.name = nil
            }
            row.name = name ?? (row.user == user ? row.name : nil)
            row.user = user
            row.phone = phone ?? row.phone
            identities[Scoped(tenant, row.id)] = row
            return AssignedUser(user: user, hasMoved: hasMoved)
        }
    }

    func standing(_ tenant: TenantID, _ scope: AppScope, _ key: VendorDeviceKey) -> IdentityStanding? {
        identityRow(tenant, scope, key).map {
            IdentityStanding(
                state: $0.state,
                token: devices[Scoped(tenant, $0.device)]?.token,
                user: $0.user,
                tokenState: devices[Scoped(tenant, $0.device)]?.tokenState ?? .none,
                attributes: $0.attributes
            )
        }
    }

    /// The identities that a holder names, the first kind that is known.
    private func reporters(_ tenant: TenantID, _ scope: AppScope, _ named: BadgeHolder) -> [IdentityRow] {
        func rows(_ matches: (IdentityRow) -> Bool) -> [IdentityRow] {
            identities.filter { $0.key.tenant == tenant && $0.value.scope == scope && matches($0.value) }.map(\.value)
                .sorted {
                    ($0.state == .active ? 1 : 0, $0.registeredAt, $0.id)
                        > ($1.state == .active ? 1 : 0, $1.registeredAt, $1.id)
                }
        }
        if let token = named.token {
            let found = rows { devices[Scoped(tenant, $0.device)]?.token == token }
            if !found.isEmpty { return found }
        }
        if let key = named.key, let found = identityRow(tenant, scope, key) { return [found] }
        return named.user.map { user in rows { $0.user == user } } ?? []
    }

    mutating func setBadge(_ tenant: TenantID, _ scope: AppScope, _ named: BadgeHolder, _ count: Int?) -> Int? {
        guard let row = reporters(tenant, scope, named).first else { return nil }
        let index = Scoped(tenant, HolderIndex(scope: scope, holder: holder(row)))
        if let count { badges[index] = count }
        return badges[index] ?? 0
    }

    mutating func acknowledge(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ reference: MessageReference,
        _ named: BadgeHolder,
        _ kind: ReceiptKind,
        _ change: BadgeChange?,
        at: Timestamp
    ) -> StoreAnswer {
        let message: MessageID? =
            switch reference {
            case .id(let id): id
            case .number(let text): references[Scoped(tenant, ReferenceIndex(scope: scope, reference: text))]
            }
        let candidates = reporters(tenant, scope, named)
        let reader = message.flatMap { message in
            candidates.first { isReceivable(tenant, message, TargetID($0.id)) }
        }
        guard let row = reader ?? candidates.first else { return .acknowledged(.orphan, badge: 0) }
        let index = Scoped(tenant, HolderIndex(scope: scope, holder: holder(row)))
        var isFirst = false
        if change != nil, reader != nil, let message {
            let delivery = deliveries[Scoped(tenant, DeliveryKey(message: message, target: TargetID(row.id)))]
            let mark = Scoped(tenant, MarkIndex(message: message, holder: holder(row)))
            isFirst = marks[mark]?.isRead != true && delivery?.readAt == nil
            marks[mark, default: Mark()].isRead = true
        }
        switch change {
        case nil: break
        case .set(let count): badges[index] = count
        case .keep: if isFirst { badges[index] = max(0, (badges[index] ?? 0) - 1) }
        }
        var reply = ReceiptReply.orphan
        if reader != nil, let message {
            reply = receipt(tenant, scope, message, Reporter(key: row.key), kind, at: at)
        }
        return .acknowledged(reply, badge: badges[index] ?? 0)
    }

    private func isReceivable(_ tenant: TenantID, _ message: MessageID, _ target: TargetID) -> Bool {
        if let row = deliveries[Scoped(tenant, DeliveryKey(message: message, target: target))] {
            return row.state != .suppressed && row.state != .canceled
        }
        return (slicesByMessage[Scoped(tenant, message)] ?? []).contains { number in
            let slice = slices[SliceKey(tenant: tenant, message: message, number: number)]
            return slice?.owner != nil && slice?.lease.targets.contains(target) == true
        }
    }

    mutating func visit(_ tenant: TenantID, _ scope: AppScope, _ user: UserID) -> Int {
        identities.contains { $0.key.tenant == tenant && $0.value.scope == scope && $0.value.user == user } ? 1 : 0
    }

    mutating func takeBadges(
        _ tenant: TenantID,
        _ message: NewMessage,
        _ step: Int,
        _ targets: inout [Int: TargetFacts]
    ) {
        for (place, facts) in targets.sorted(by: { $0.key < $1.key }) where facts.vendor == message.scope.vendor {
            guard facts.identityState == .active, facts.destination.tokenState == .active,
                let row = identities[Scoped(tenant, facts.identity)]
            else { continue }
            let mark = Scoped(tenant, MarkIndex(message: message.id, holder: holder(row)))
            if marks[mark] == nil {
                let index = Scoped(tenant, HolderIndex(scope: message.scope, holder: holder(row)))
                let count = min((badges[index] ?? 0) + step, 1_000_000_000)
                badges[index] = count
                marks[mark] = Mark(badge: count)
            }
            targets[place]?.badge = marks[mark]?.badge
        }
    }

    // MARK: Numbers

    mutating func createGroup(_ tenant: TenantID, _ scope: AppScope, _ title: String, now: Timestamp) -> GroupName? {
        guard apps[Scoped(tenant, scope.app)] != nil else { return nil }
        let name = GroupName(String(nextNumber(tenant, scope, "group")))
        _ = putGroup(tenant, scope, name, now: now)
        groups[Scoped(tenant, GroupIndex(scope: scope, name: name))]?.title = title
        return name
    }

    private mutating func nextNumber(_ tenant: TenantID, _ scope: AppScope, _ name: String) -> Int {
        let index = Scoped(tenant, ReferenceIndex(scope: scope, reference: name))
        numbers[index, default: 0] += 1
        return numbers[index] ?? 0
    }

    /// The last number given out under a name; 0 when there is none.
    func lastNumber(_ tenant: TenantID, _ scope: AppScope, _ name: String) -> Int {
        numbers[Scoped(tenant, ReferenceIndex(scope: scope, reference: name))] ?? 0
    }

    func titledGroups(_ tenant: TenantID, _ scope: AppScope, _ name: GroupName?, limit: Int) -> [TitledGroup] {
        let found = groups.filter {
            $0.key.tenant == tenant && $0.key.value.scope == scope && (name == nil || $0.key.value.name == name)
        }
        let sorted = found.map { TitledGroup(name: $0.key.value.name, title: $0.value.title) }
            .sorted { ($0.name.rawValue.count, $0.name) < ($1.name.rawValue.count, $1.name) }
        return Array(sorted.prefix(max(0, limit)))
    }

    func members(_ tenant: TenantID, _ scope: AppScope, _ name: GroupName, _ user: UserID?, limit: Int)
        -> [GroupMember]?
    {
        guard let row = groups[Scoped(tenant, GroupIndex(scope: scope, name: name))] else { return nil }
        let group = TitledGroup(name: name, title: row.title)
        let members = row.members.sorted().filter { user == nil || $0 == user }.map { member in
            let newest = activeIdentities(tenant, scope).compactMap { identities[Scoped(tenant, $0)] }
                .filter { $0.user == member }.max { $0.registeredAt < $1.registeredAt }
            return GroupMember(group: group, user: member, name: newest?.name)
        }
        return Array(members.prefix(max(0, limit)))
    }

    func recipients(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ users: [UserID]?,
        _ tokens: [DeviceToken]?,
        limit: Int
    ) -> [RecipientTarget] {
        let rows = activeIdentities(tenant, scope).compactMap { identities[Scoped(tenant, $0)] }
        func token(_ row: IdentityRow) -> DeviceToken? { devices[Scoped(tenant, row.device)]?.token }
        let chosen: [IdentityRow] =
            if let users {
                users.flatMap { user in
                    rows.filter { row in
                        row.user == user && (tokens.map { token(row).map($0.contains) ?? false } ?? true)
                    }
                }
            } else {
                (tokens ?? []).flatMap { wanted in rows.filter { token($0) == wanted } }
            }
        return chosen.prefix(max(0, limit)).map { row in
            let device = devices[Scoped(tenant, row.device)]
            return RecipientTarget(
                user: row.user,
                key: row.key,
                found: ResolvedTarget(
                    identity: row.id,
                    device: row.device,
                    isReachable: device?.tokenState == .active && device?.token != nil,
                    clock: device?.clock ?? .unset
                )
            )
        }
    }

    func recipients(
        _ tenant: TenantID,
        _ scope: AppScope,
        in names: [GroupName],
        _ tokens: [DeviceToken],
        limit: Int
    ) -> [RecipientTarget] {
        let members = names.reduce(into: Set<UserID>()) {
            $0.formUnion(groups[Scoped(tenant, GroupIndex(scope: scope, name: $1))]?.members ?? [])
        }
        let found = recipients(tenant, scope, nil, tokens, limit: .max).filter {
            $0.user.map(members.contains) ?? false
        }
        return Array(found.prefix(max(0, limit)))
    }

    mutating func sequenceMessage(_ tenant: TenantID, _ scope: AppScope, _ message: MessageID) -> String? {
        let known = references.first {
            $0.key.tenant == tenant && $0.key.value.scope == scope && $0.value == message
        }
        if let known { return known.key.value.reference }
        guard messages[Scoped(tenant, message)]?.message.scope.app == scope.app else { return nil }
        let number = String(nextNumber(tenant, scope, "message"))
        references[Scoped(tenant, ReferenceIndex(scope: scope, reference: number))] = message
        numbersByMessage[Scoped(tenant, message), default: [:]][scope.vendor] = number
        return number
    }
}
