import Commands
import Model

extension MemoryTables {
    mutating func register(
        _ tenant: TenantID,
        _ scope: AppScope,
        key: VendorDeviceKey,
        _ registration: DeviceRegistration,
        newIdentity: IdentityID,
        newDevice: DeviceID,
        at: Timestamp
    ) -> Registered {
        let index = Scoped(tenant, KeyIndex(scope: scope, key: key))
        let old = identityByKey[index].flatMap { identities[Scoped(tenant, $0)] }
        let device = placeDevice(
            tenant,
            scope,
            registration,
            known: place(tenant, old, registration),
            new: newDevice,
            at: at
        )
        var row =
            old
            ?? IdentityRow(
                id: newIdentity,
                scope: scope,
                key: key,
                device: device,
                state: .active,
                platform: registration.platform,
                registeredAt: at,
                seenAt: at
            )
        unlink(tenant, row)
        row.device = device
        row.platform = registration.platform
        row.state = .active
        row.user = registration.user ?? row.user
        row.name = registration.name ?? row.name
        row.phone = registration.phone ?? row.phone
        row.registeredAt = at
        row.seenAt = at
        if let tags = registration.tags { row.tags = Set(tags) }
        if !registration.attributes.isEmpty { row.attributes = registration.attributes }
        devices[Scoped(tenant, device)]?.clock.change(registration.clock)
        identityByKey[index] = row.id
        link(tenant, row)
        let replaced = replaceOthers(tenant, row, samePhone: registration.replacesSamePhone)
        for id in replaced {
            guard let other = identities[Scoped(tenant, id)] else { continue }
            note(tenant, .replaced, of: other, at: at, tellsDevice: false)
        }
        if old?.state != .active { note(tenant, .registered, of: row, at: at) }
        return Registered(
            identity: row.id,
            device: device,
            key: key,
            platform: row.platform,
            wasActive: old?.state == .active,
            replaced: replaced
        )
    }

    /// The device that an identity keeps; none where it shares one with others, whose token its new one is not.
    private func place(_ tenant: TenantID, _ old: IdentityRow?, _ registration: DeviceRegistration) -> DeviceID? {
        guard let old else { return nil }
        guard registration.sharesDevice, registration.token != nil else { return old.device }
        let others = (identitiesByDevice[Scoped(tenant, old.device)] ?? []).filter { id in
            let other = identities[Scoped(tenant, id)]
            return id != old.id && other?.scope == old.scope && other?.state == .active
        }
        return others.isEmpty ? old.device : nil
    }

    func identities(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ filter: IdentityFilter,
        from: VendorDeviceKey?,
        limit: Int
    ) -> [ListedIdentity] {
        let found = identities.filter {
            $0.key.tenant == tenant && $0.value.scope == scope && $0.value.state == .active
        }
        return found.values.filter { row in
            let device = devices[Scoped(tenant, row.device)]
            guard device?.tokenState == .active, row.key.rawValue >= from?.rawValue ?? "" else { return false }
            switch filter {
            case .all: return true
            case .token(let token): return device?.token == token
            case .tag(let tag): return row.tags.contains(tag) || row.tags.contains(.ofVariant(tag))
            }
        }.sorted { $0.key.rawValue < $1.key.rawValue }.prefix(limit).compactMap { row in
            standing(tenant, scope, row.key).map { ListedIdentity(key: row.key, standing: $0) }
        }
    }

    /// The device of the token, else the identity's own, else a new one; with the token set.
    private mutating func placeDevice(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ registration: DeviceRegistration,
        known: DeviceID?,
        new: DeviceID,
        at: Timestamp
    ) -> DeviceID {
        let environment =
            registration.environment ?? known.flatMap { devices[Scoped(tenant, $0)]?.environment } ?? .production
        let byToken = registration.token.flatMap { token in
            deviceByToken[
                Scoped(
                    tenant,
                    TokenIndex(
                        app: scope.app,
                        platform: registration.platform,
                        environment: environment,
                        token: token
                    )
                )
            ]
        }
        let id = byToken ?? known ?? new
        if devices[Scoped(tenant, id)] == nil {
            devices[Scoped(tenant, id)] = DeviceRow(
                id: id,
                app: scope.app,
                platform: registration.platform,
                environment: environment,
                tokenState: .none
            )
        }
        if let token = registration.token { setToken(tenant, id, token, environment, at: at) }
        return id
    }

    private mutating func setToken(
        _ tenant: TenantID,
        _ id: DeviceID,
        _ token: DeviceToken,
        _ environment: PushEnvironment?,
        at: Timestamp
    ) {
        guard var device = devices[Scoped(tenant, id)] else { return }
        dropTokenIndex(tenant, device)
        device.environment = environment ?? device.environment
        device.token = token
        device.tokenState = .active
        device.tokenRegisteredAt = at
        devices[Scoped(tenant, id)] = device
        deviceByToken[Scoped(tenant, tokenIndex(device, token))] = id
    }

    private func tokenIndex(_ device: DeviceRow, _ token: DeviceToken) -> TokenIndex {
        TokenIndex(app: device.app, platform: device.platform, environment: device.environment, token: token)
    }

    private mutating func dropTokenIndex(_ tenant: TenantID, _ device: DeviceRow) {
        guard let token = device.token else { return }
        let index = Scoped(tenant, tokenIndex(device, token))
        if deviceByToken[index] == device.id { deviceByToken[index] = nil }
    }

    private mutating func link(_ tenant: TenantID, _ row: IdentityRow) {
        identities[Scoped(tenant, row.id)] = row
        identitiesByDevice[Scoped(tenant, row.device), default: []].insert(row.id)
        guard let phone = row.phone else { return }
        identitiesByPhone[Scoped(tenant, PhoneIndex(scope: row.scope, phone: phone)), default: []].insert(row.id)
    }

    private mutating func unlink(_ tenant: TenantID, _ row: IdentityRow) {
        identitiesByDevice[Scoped(tenant, row.device)]?.remove(row.id)
        guard let phone = row.phone else { return }
        identitiesByPhone[Scoped(tenant, PhoneIndex(scope: row.scope, phone: phone))]?.remove(row.id)
    }

    private mutating func replaceOthers(_ tenant: TenantID, _ row: IdentityRow, samePhone: Bool) -> [IdentityID] {
        var others = identitiesByDevice[Scoped(tenant, row.device)] ?? []
        if devices[Scoped(tenant, row.device)]?.token == nil { others = [] }
        func shares(_ row: IdentityRow?) -> Bool { row?.attributes[DeviceRegistration.sharingAttribute] == true }
        others = others.filter { !shares(row) && !shares(identities[Scoped(tenant, $0)]) }
        if samePhone, let phone = row.phone {
            others.formUnion(identitiesByPhone[Scoped(tenant, PhoneIndex(scope: row.scope, phone: phone))] ?? [])
        }
        var replaced: [IdentityID] = []
        for id in others where id != row.id {
            guard var other = identities[Scoped(tenant, id)], other.scope == row.scope, other.state == .active else {
                continue
            }
            other.state = .replaced
            other.tags = []
            identities[Scoped(tenant, id)] = other
            replaced.append(id)
        }
        return replaced.sorted()
    }

    mutating func updateToken(
        _ tenant: TenantID,
        _ scope: AppScope,
        key: VendorDeviceKey,
        _ token: DeviceToken,
        _ environment: PushEnvironment?,
        at: Timestamp
    ) -> Int {
        guard let id = identityByKey[Scoped(tenant, KeyIndex(scope: scope, key: key))],
            let row = identities[Scoped(tenant, id)], row.state == .active
        else { return 0 }
        let registration = DeviceRegistration(
            key: key,
            platform: row.platform,
            environment: environment,
            token: token
        )
        _ = register(tenant, scope, key: key, registration, newIdentity: id, newDevice: row.device, at: at)
        return 1
    }

    mutating func unregister(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ selector: IdentitySelector,
        at: Timestamp
    ) -> Int {
        let ids: [IdentityID] =
            switch selector {
            case .key(let key): [identityByKey[Scoped(tenant, KeyIndex(scope: scope, key: key))]].compactMap(\.self)
            case .phone(let phone):
                Array(identitiesByPhone[Scoped(tenant, PhoneIndex(scope: scope, phone: phone))] ?? [])
            }
        var count = 0
        for id in ids {
            guard var row = identities[Scoped(tenant, id)], row.state == .active else { continue }
            row.state = .unregistered
            row.tags = []
            identities[Scoped(tenant, id)] = row
            count += 1
            dropUnusedToken(tenant, row.device)
            note(tenant, .unregistered, of: row, at: at)
        }
        return count
    }

    private mutating func dropUnusedToken(_ tenant: TenantID, _ id: DeviceID) {
        let isUsed = (identitiesByDevice[Scoped(tenant, id)] ?? []).contains {
            identities[Scoped(tenant, $0)]?.state == .active
        }
        guard !isUsed, var device = devices[Scoped(tenant, id)] else { return }
        dropTokenIndex(tenant, device)
        device.token = nil
        device.tokenState = .none
        devices[Scoped(tenant, id)] = device
    }

    func identityRow(_ tenant: TenantID, _ scope: AppScope, _ key: VendorDeviceKey) -> IdentityRow? {
        identityByKey[Scoped(tenant, KeyIndex(scope: scope, key: key))].flatMap { identities[Scoped(tenant, $0)] }
    }

    func facts(_ tenant: TenantID, _ scope: AppScope, _ key: VendorDeviceKey) -> IdentityFacts? {
        identityRow(tenant, scope, key).map {
            IdentityFacts(
                identity: $0.id,
                device: $0.device,
                state: $0.state,
                platform: $0.platform,
                phone: $0.phone
            )
        }
    }

    mutating func touch(_ tenant: TenantID, _ scope: AppScope, _ key: VendorDeviceKey, at: Timestamp) -> Int {
        guard var row = identityRow(tenant, scope, key), row.state == .active else { return 0 }
        row.seenAt = max(row.seenAt, at)
        identities[Scoped(tenant, row.id)] = row
        return 1
    }
}
