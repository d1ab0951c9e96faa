import Commands
import DeliveryEngine
import Model

extension MemoryTables {
    func appFacts(_ tenant: TenantID, _ scope: AppScope) -> AppFacts? {
        guard let app = apps[Scoped(tenant, scope.app)] else { return nil }
        return AppFacts(
            hasCredential: app.routes.values.contains { !$0.credentials.isEmpty },
            identityCount: activeIdentities(tenant, scope).count,
            timing: app.timing,
            dialects: Set(
                identities.filter { $0.key.tenant == tenant && $0.value.scope.app == scope.app }.map(
                    \.value.scope.vendor
                )
            )
        )
    }

    /// Active identities that a call in `scope` means by "everyone", in the order of their ids.
    func activeIdentities(_ tenant: TenantID, _ scope: AppScope) -> [IdentityID] {
        identities.filter { $0.key.tenant == tenant && $0.value.state == .active && scope.covers($0.value.scope) }
            .map(\.value.id).sorted()
    }

    func resolve(_ tenant: TenantID, _ scope: AppScope, _ address: Address) -> ResolvedTarget? {
        let candidates: [IdentityID] =
            switch address {
            case .phone(let phone): identities(tenant, scope) { $0.phone == phone }
            case .deviceKey(let key): identities(tenant, scope) { $0.key == key }
            case .device(let device): Array(identitiesByDevice[Scoped(tenant, device)] ?? [])
            case .user: []
            }
        let rows = candidates.compactMap { identities[Scoped(tenant, $0)] }
            .filter { $0.state == .active && scope.covers($0.scope) }
        guard let newest = rows.max(by: { ($0.registeredAt, $0.id) < ($1.registeredAt, $1.id) }) else { return nil }
        let device = devices[Scoped(tenant, newest.device)]
        return ResolvedTarget(
            identity: newest.id,
            device: newest.device,
            isReachable: device?.tokenState == .active && device?.token != nil,
            clock: device?.clock ?? .unset
        )
    }

    private func identities(
        _ tenant: TenantID,
        _ scope: AppScope,
        where matches: (IdentityRow) -> Bool
    ) -> [IdentityID] {
        identities.filter { $0.key.tenant == tenant && scope.covers($0.value.scope) && matches($0.value) }
            .map(\.value.id)
    }

    mutating func accept(_ tenant: TenantID, _ message: NewMessage, now: Timestamp) -> Acceptance {
        if let idempotency = message.idempotency {
            let index = Scoped(tenant, IdempotencyIndex(scope: message.scope, key: idempotency.key))
            if let first = repeats[index] {
                guard first.bodyHash == idempotency.bodyHash else { return .mismatch }
                return .repeated(first.message, recipients: messages[Scoped(tenant, first.message)]?.recipients)
            }
            repeats[index] = Repeat(bodyHash: idempotency.bodyHash, message: message.id)
        }
        messages[Scoped(tenant, message.id)] = MessageRow(
            message: message,
            state: initialState(message, now: now),
            recipients: message.recipients
        )
        note(tenant, .accepted, of: message, at: now)
        for slice in message.slices { insert(tenant, slice, of: message, now: now) }
        for target in message.suppressed { suppress(tenant, target, of: message) }
        return .inserted
    }

    private func initialState(_ message: NewMessage, now: Timestamp) -> MessageState {
        if message.slices.isEmpty { return .done }
        if message.dueAt > now { return .scheduled }
        let expands = message.slices.contains { if case .expand = $0.work { true } else { false } }
        return expands ? .expanding : .sending
    }

    /// A slice that is claimed at once has epoch 1, as if its first claim had happened.
    mutating func insert(_ tenant: TenantID, _ slice: NewSlice, of message: NewMessage, now: Timestamp) {
        let key = SliceKey(tenant: tenant, message: message.id, number: slice.number)
        let claim = slice.dueAt == nil ? message.claim : nil
        let lease = SliceLease(
            key: key,
            epoch: claim == nil ? 0 : 1,
            lane: message.lane,
            dueDay: message.dueAt.day,
            work: slice.work,
            targets: slice.targets,
            addresses: slice.addresses
        )
        let nextAt = claim.map { now + $0.lease } ?? slice.dueAt ?? message.dueAt
        slices[key] = SliceRow(lease: lease, owner: claim?.node, nextAt: nextAt)
        slicesByMessage[Scoped(tenant, message.id), default: []].append(slice.number)
    }

    private mutating func suppress(_ tenant: TenantID, _ target: SuppressedTarget, of message: NewMessage) {
        let result = DeliveryResult(
            index: 0,
            target: target.target,
            identity: target.identity,
            device: target.device,
            address: target.address,
            state: .suppressed,
            reason: target.reason.rawValue,
            at: message.acceptedAt
        )
        let key = DeliveryKey(message: message.id, target: target.target)
        guard deliveries[Scoped(tenant, key)] == nil else { return }
        put(tenant, key, DeliveryRow(result: result, state: .suppressed), as: .suppressed)
    }
}
