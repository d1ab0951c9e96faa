import Commands
import DeliveryEngine
import Model

extension MemoryTables {
    mutating func receipt(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ message: MessageID,
        _ reporter: Reporter,
        _ kind: ReceiptKind,
        at: Timestamp
    ) -> ReceiptReply {
        guard let key = reporter.key, let identity = identityRow(tenant, scope, key),
            let stored = messages[Scoped(tenant, message)], stored.message.scope.app == scope.app
        else { return .orphan }
        let delivery = DeliveryKey(message: message, target: TargetID(identity.id))
        guard var row = deliveries[Scoped(tenant, delivery)] ?? early(tenant, delivery, identity, at: at),
            row.state != .suppressed, row.state != .canceled
        else { return .orphan }
        switch kind {
        case .received where row.receivedAt != nil, .read where row.readAt != nil: return .repeated
        case .received: row.receivedAt = at
        case .read:
            row.readAt = at
            if row.receivedAt == nil { row.receivedAt = at }
        }
        row.state = row.readAt == nil ? .received : .read
        put(tenant, delivery, row, as: row.state)
        return .recorded
    }

    /// The row of a delivery that is on its way but whose outcome is not written yet: only a leased slice can have sent it.
    private func early(
        _ tenant: TenantID,
        _ key: DeliveryKey,
        _ identity: IdentityRow,
        at: Timestamp
    ) -> DeliveryRow? {
        for number in slicesByMessage[Scoped(tenant, key.message)] ?? [] {
            let slice = slices[SliceKey(tenant: tenant, message: key.message, number: number)]
            guard let slice, slice.owner != nil, let index = slice.lease.targets.firstIndex(of: key.target) else {
                continue
            }
            let result = DeliveryResult(
                index: index,
                target: key.target,
                identity: identity.id,
                device: identity.device,
                state: .sent,
                at: at
            )
            return DeliveryRow(result: result, state: .sent, awaitsOutcome: true)
        }
        return nil
    }

    /// Stores a delivery's row with its indexes and its event.
    mutating func put(_ tenant: TenantID, _ key: DeliveryKey, _ row: DeliveryRow, as news: DeliveryState) {
        if deliveries.updateValue(row, forKey: Scoped(tenant, key)) == nil {
            targetsByMessage[Scoped(tenant, key.message), default: []].append(key.target)
            if let identity = row.result.identity {
                targetsByIdentity[Scoped(tenant, identity), default: []].append(key)
            }
        }
        note(tenant, key, row, as: news)
    }

    func delivery(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ message: MessageID,
        _ reporter: Reporter
    ) -> StoreAnswer {
        guard let key = reporter.key, let identity = identityRow(tenant, scope, key),
            messages[Scoped(tenant, message)]?.message.scope.app == scope.app
        else { return .delivery(nil, platform: nil) }
        let own = DeliveryKey(message: message, target: TargetID(identity.id))
        if deliveries[Scoped(tenant, own)] != nil {
            return .delivery(snapshot(tenant, own), platform: identity.platform)
        }
        let byPhone = (targetsByMessage[Scoped(tenant, message)] ?? []).first { target in
            guard let phone = identity.phone else { return false }
            let row = deliveries[Scoped(tenant, DeliveryKey(message: message, target: target))]
            return row?.result.address == .phone(phone)
        }
        let found = byPhone.map { DeliveryKey(message: message, target: $0) }
        return .delivery(found.flatMap { snapshot(tenant, $0) }, platform: identity.platform)
    }

    func snapshot(_ tenant: TenantID, _ key: DeliveryKey) -> DeliverySnapshot? {
        guard let row = deliveries[Scoped(tenant, key)] else { return nil }
        return DeliverySnapshot(
            message: key.message,
            target: key.target,
            identity: row.result.identity,
            address: row.result.address,
            state: row.state,
            reason: row.result.reason,
            sentAt: row.result.at,
            receivedAt: row.receivedAt,
            readAt: row.readAt,
            fallback: messages[Scoped(tenant, key.message)]?.message.fallback
        )
    }

    func undelivered(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ key: VendorDeviceKey,
        since: Timestamp,
        limit: Int
    ) -> [InboxEntry] {
        guard let identity = identityRow(tenant, scope, key) else { return [] }
        let open = (targetsByIdentity[Scoped(tenant, identity.id)] ?? []).filter { key in
            let row = deliveries[Scoped(tenant, key)]
            return row?.state == .sent && row.map { $0.result.at >= since } == true
        }
        let rows = open.compactMap { messages[Scoped(tenant, $0.message)] }
            .sorted { ($0.message.dueAt, $0.message.id) > ($1.message.dueAt, $1.message.id) }
        return rows.prefix(max(0, limit)).map { row in
            InboxEntry(notification: notification(tenant, row.message), sender: row.message.sender)
        }
    }

    func notification(_ tenant: TenantID, _ message: NewMessage) -> Notification {
        Notification(
            message: message.id,
            origin: message.scope.vendor,
            content: message.content,
            sentAt: message.dueAt,
            expiresAt: message.expiresAt,
            collapseID: message.collapseID,
            numbers: numbersByMessage[Scoped(tenant, message.id)] ?? [:]
        )
    }
}
