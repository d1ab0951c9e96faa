import Commands
import DeliveryEngine
import Model

// The tenant's event log: appended to where a row changes.
extension MemoryTables {
    private mutating func append(_ tenant: TenantID, _ event: EventRecord) {
        var event = event
        event.offset = Int64(events[tenant]?.count ?? 0) + 1
        events[tenant, default: []].append(event)
    }

    /// A delivery's news.
    mutating func note(_ tenant: TenantID, _ key: DeliveryKey, _ row: DeliveryRow, as state: DeliveryState) {
        guard let message = messages[Scoped(tenant, key.message)]?.message else { return }
        let identity = row.result.identity.flatMap { identities[Scoped(tenant, $0)] }
        let isEnd = [.failed, .suppressed, .expired, .canceled].contains(state)
        append(
            tenant,
            EventRecord(
                offset: 0,
                at: row.result.at,
                kind: state.rawValue,
                app: message.scope.app,
                vendor: message.scope.vendor,
                sender: message.sender,
                message: key.message,
                target: key.target,
                identity: row.result.identity,
                device: row.result.device,
                address: row.result.address ?? identity.map { .deviceKey($0.key) },
                user: row.result.user,
                reason: isEnd ? row.result.reason : nil
            )
        )
    }

    /// A message's own news.
    mutating func note(_ tenant: TenantID, _ kind: EventKind, of message: NewMessage, at: Timestamp) {
        append(
            tenant,
            EventRecord(
                offset: 0,
                at: at,
                kind: kind.rawValue,
                app: message.scope.app,
                vendor: message.scope.vendor,
                message: message.id
            )
        )
    }

    /// An identity's news.
    mutating func note(
        _ tenant: TenantID,
        _ kind: EventKind,
        of identity: IdentityRow,
        at: Timestamp,
        tellsDevice: Bool = true
    ) {
        append(
            tenant,
            EventRecord(
                offset: 0,
                at: at,
                kind: kind.rawValue,
                app: identity.scope.app,
                vendor: identity.scope.vendor,
                identity: identity.id,
                device: tellsDevice ? identity.device : nil,
                address: .deviceKey(identity.key)
            )
        )
    }

    /// A token's news.
    mutating func note(_ tenant: TenantID, _ kind: EventKind, of device: DeviceRow, reason: String?, at: Timestamp) {
        append(
            tenant,
            EventRecord(
                offset: 0,
                at: at,
                kind: kind.rawValue,
                app: device.app,
                vendor: nil,
                device: device.id,
                data: ["reason": reason.map { .string($0) } ?? .null]
            )
        )
    }

    /// A page of a tenant's log, as `EventRow.page` reads it.
    func page(_ tenant: TenantID, _ filter: EventFilter, after offset: Int64, limit: Int) -> EventPage {
        let log = events[tenant] ?? []
        let head = Int64(log.count)
        let start = Int(min(max(offset, 0), head))
        let looked = log[start...].prefix(EventPage.window)
        let wanted = looked.filter { filter.wants($0) }.prefix(max(1, limit))
        let isFull = wanted.count == max(1, limit)
        let through = isFull ? wanted.last?.offset : looked.last?.offset
        return EventPage(events: Array(wanted), through: through ?? offset, head: head)
    }
}
