import Commands
package import Model

extension MemoryDatabase {
    /// Erases a device, or a user with every device, as the native API does.
    package func erase(_ what: Erasure, in tenant: TenantID) {
        // Nothing fails here: no error is scripted for it.
        try? transaction { tables, _ in
            switch what {
            case .device(let id): tables.eraseDevice(tenant, id)
            case .user(let id): tables.eraseUser(tenant, id)
            }
        }
    }
}

/// What goes with a device or a user: their rows, and what is counted for them. Deliveries stay, of nobody.
extension MemoryTables {
    fileprivate mutating func eraseDevice(_ tenant: TenantID, _ id: DeviceID) {
        guard devices.removeValue(forKey: Scoped(tenant, id)) != nil else { return }
        deviceByToken = deviceByToken.filter { !($0.key.tenant == tenant && $0.value == id) }
        for identity in identitiesByDevice.removeValue(forKey: Scoped(tenant, id)) ?? [] {
            eraseIdentity(tenant, identity)
        }
    }

    fileprivate mutating func eraseUser(_ tenant: TenantID, _ user: UserID) {
        for (index, row) in identities where index.tenant == tenant && row.user == user {
            eraseDevice(tenant, row.device)
            eraseIdentity(tenant, row.id)
        }
        for index in groups.keys where index.tenant == tenant { groups[index]?.members.remove(user) }
        forget(tenant, holder: "user:\(user)") { _ in true }
        forgetProfile(user, tenant) { _ in true }
    }

    /// An identity with its device, if nobody else uses that.
    mutating func eraseIdentityAlone(_ tenant: TenantID, _ row: IdentityRow) {
        let others = identitiesByDevice[Scoped(tenant, row.device)]?.contains { $0 != row.id } ?? false
        if others {
            identitiesByDevice[Scoped(tenant, row.device)]?.remove(row.id)
            eraseIdentity(tenant, row.id)
        } else {
            eraseDevice(tenant, row.device)
        }
    }

    private mutating func eraseIdentity(_ tenant: TenantID, _ id: IdentityID) {
        guard let row = identities.removeValue(forKey: Scoped(tenant, id)) else { return }
        identityByKey[Scoped(tenant, KeyIndex(scope: row.scope, key: row.key))] = nil
        if let phone = row.phone {
            identitiesByPhone[Scoped(tenant, PhoneIndex(scope: row.scope, phone: phone))]?.remove(id)
        }
        variants = variants.filter { !($0.key.tenant == tenant && $0.value.identity == id) }
        targetsByIdentity[Scoped(tenant, id)] = nil
        forget(tenant, holder: "key:\(row.key)") { $0 == row.scope }
    }

    /// Badges of a holder in the scopes that `covers` names, and what messages of these did to them.
    mutating func forget(_ tenant: TenantID, holder: String, _ covers: (AppScope) -> Bool) {
        for index in badges.keys
        where index.tenant == tenant && index.value.holder == holder && covers(index.value.scope) {
            badges[index] = nil
        }
        for index in marks.keys where index.tenant == tenant && index.value.holder == holder {
            guard let message = messages[Scoped(tenant, index.value.message)]?.message, covers(message.scope) else {
                continue
            }
            marks[index] = nil
        }
    }
}
