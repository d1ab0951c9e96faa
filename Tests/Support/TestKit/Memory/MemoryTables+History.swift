import Commands
import DeliveryEngine
import Model

// Histories, preferences and numbers.
extension MemoryTables {
    mutating func runHistory(_ statement: StoreStatement, in tenant: TenantID, now: Timestamp) -> StoreAnswer {
        switch statement {
        case .history(_, _, let page, _) where page.look != nil: runLook(statement, in: tenant)
        case .history(let scope, let caller, let page, let at): history(tenant, scope, caller, page, at: at)
        case .inboxMessage(let scope, let caller, let number): .inbox(message(tenant, scope, caller, number))
        case .poll(let scope, let caller, let limit, let at): .inbox(poll(tenant, scope, caller, limit, at: at))
        case .unreceived(let scope, let caller, let limit, let at):
            .count(
                min(limit, self.caller(tenant, scope, caller).map { unreceived(tenant, $0, at: at).count } ?? 0)
            )
        case .reportNumber(let scope, let caller, let number, let kind, let at):
            .reported(report(tenant, scope, caller, number, kind, at: at))
        case .userMessage, .unread: runLook(statement, in: tenant)
        case .preferences(let scope, let caller): .preferences(preferences(tenant, scope, caller))
        case .setPreferences(let scope, let caller, let change): .count(set(change, tenant, scope, caller, now: now))
        case .drawNumbers(let scope, let count): .numbers(draw(tenant, scope, count, now: now))
        case .number(let message, let numbers, let targets, _): .count(number(tenant, message, numbers, targets))
        case .numbers(let message): .numbered(numbersByMessage[Scoped(tenant, message)] ?? [:])
        case .resolveAliases(let scope, let users, let limit):
            .resolvedUsers(Array(users.flatMap { resolveAlias(tenant, scope, $0) }.prefix(max(0, limit))))
        default: .count(0)  // every other statement is run by `run`
        }
    }

    // MARK: Callers

    func caller(_ tenant: TenantID, _ scope: AppScope, _ caller: DeviceCaller) -> IdentityRow? {
        if let key = caller.key, let row = identityRow(tenant, scope, key), row.state == .active { return row }
        guard let token = caller.token else { return nil }
        return identities.values.filter { row in
            row.scope == scope && row.state == .active && identities[Scoped(tenant, row.id)] != nil
                && devices[Scoped(tenant, row.device)]?.token == token
        }.max { $0.registeredAt < $1.registeredAt }
    }

    private func preferences(_ tenant: TenantID, _ scope: AppScope, _ caller: DeviceCaller) -> DevicePreferences? {
        reader(tenant, scope, caller).map {
            DevicePreferences(
                acceptsPush: $0.acceptsPush,
                window: devices[Scoped(tenant, $0.device)]?.clock.window,
                user: $0.user,
                alias: $0.alias
            )
        }
    }

    private mutating func set(
        _ change: PreferenceChange,
        _ tenant: TenantID,
        _ scope: AppScope,
        _ caller: DeviceCaller,
        now: Timestamp
    ) -> Int {
        guard var row = self.caller(tenant, scope, caller) else { return 0 }
        let isNews = change.acceptsPush.map { $0 != row.acceptsPush } ?? false
        row.acceptsPush = change.acceptsPush ?? row.acceptsPush
        row.alias = change.alias ?? row.alias
        identities[Scoped(tenant, row.id)] = row
        if change.windowFrom != nil || change.windowTo != nil {
            let old = devices[Scoped(tenant, row.device)]?.clock.window
            let window = DailyWindow(
                from: change.windowFrom ?? old?.from ?? 0,
                to: change.windowTo ?? old?.to ?? 1439
            )
            devices[Scoped(tenant, row.device)]?.clock.change(DeviceClock(timeZone: change.timeZone, window: window))
        }
        if isNews { note(tenant, .preferenceChanged, of: row, at: now) }
        return 1
    }

    private func resolveAlias(_ tenant: TenantID, _ scope: AppScope, _ name: UserID) -> [UserTarget] {
        func named(_ row: IdentityRow) -> Bool { (row.alias ?? row.user) == name }
        let active = activeIdentities(tenant, scope).compactMap { identities[Scoped(tenant, $0)] }
            .filter { $0.scope == scope }
        let found = active.contains(where: named) ? active.filter(named) : active.filter { $0.user == name }
        return found.compactMap { row in
            resolve(tenant, scope, .deviceKey(row.key)).map { UserTarget(user: name, found: $0) }
        }
    }

    // MARK: Histories

    func rows(_ tenant: TenantID, where isMeant: (DeliveryRow) -> Bool) -> [(DeliveryKey, DeliveryRow)] {
        deliveries.filter { key, row in
            key.tenant == tenant && row.state != .canceled && row.result.reason != SuppressionReason.duplicate.rawValue
                && isMeant(row)
        }.map { ($0.key.value, $0.value) }
    }

    func rows(_ tenant: TenantID, ofUser user: UserID, _ scope: AppScope) -> [(DeliveryKey, DeliveryRow)] {
        rows(tenant) { row in
            row.result.user == user
                && row.result.identity.map { identities[Scoped(tenant, $0)]?.scope == scope } ?? false
        }
    }

    private mutating func history(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ caller: DeviceCaller,
        _ page: HistoryPage,
        at: Timestamp
    ) -> StoreAnswer {
        guard let identity = self.caller(tenant, scope, caller) else { return .inbox([]) }
        var found: [(DeliveryKey, DeliveryRow)]
        switch page.owner {
        case .device: found = rows(tenant) { $0.result.identity == identity.id }
        case .user(let named):
            guard let user = identity.user, named == nil || named == user else { return .inbox([]) }
            found = rows(tenant, ofUser: user, scope)
        }
        let before = page.before.flatMap { bound(tenant, scope, $0) }
        found = found.filter { key, _ in
            isDue(tenant, key.message, at) && (before.map { key.message < $0 } ?? true)
        }
        let ids = Set(found.map(\.0.message)).sorted(by: >).prefix(page.count)
        for id in ids {
            for (key, row) in found where key.message == id && row.result.identity == identity.id && row.state == .sent
            {
                mark(tenant, key, .received, at: at)
            }
        }
        let all = found.map { ($0.0, deliveries[Scoped(tenant, $0.0)] ?? $0.1) }
        return .inbox(ids.compactMap { id in entry(tenant, id, all.filter { $0.0.message == id }.map(\.1)) })
    }

    private func bound(_ tenant: TenantID, _ scope: AppScope, _ number: String) -> MessageID? {
        if let id = message(tenant, scope, number) { return id }
        let later = numbersByMessage.filter { key, numbers in
            key.tenant == tenant && messages[key]?.message.scope.app == scope.app
                && numbers[scope.vendor].map { $0 > number } ?? false
        }
        return later.min { ($0.value[scope.vendor] ?? "") < ($1.value[scope.vendor] ?? "") }?.key.value
    }

    func message(_ tenant: TenantID, _ scope: AppScope, _ number: String) -> MessageID? {
        let own = numbersByMessage.first { key, numbers in
            key.tenant == tenant && numbers[scope.vendor] == number
                && messages[key]?.message.scope.app == scope.app
        }
        if let own { return own.key.value }
        guard let id = MessageID(text: number), messages[Scoped(tenant, id)]?.message.scope.app == scope.app else {
            return nil
        }
        return id
    }

    func isDue(_ tenant: TenantID, _ message: MessageID, _ at: Timestamp) -> Bool {
        messages[Scoped(tenant, message)].map { $0.message.dueAt <= at } ?? false
    }

    func entry(_ tenant: TenantID, _ id: MessageID, _ rows: [DeliveryRow]) -> InboxEntry? {
        guard let message = messages[Scoped(tenant, id)]?.message else { return nil }
        return InboxEntry(
            notification: notification(tenant, message),
            sender: message.sender,
            user: rows.compactMap(\.result.user).first,
            receivedAt: rows.compactMap(\.receivedAt).min(),
            readAt: rows.compactMap(\.readAt).min(),
            wasSent: rows.contains { [.sent, .received, .read].contains($0.state) || $0.receivedAt != nil },
            variables: rows.compactMap(\.result.user).first
                .flatMap { messages[Scoped(tenant, id)]?.variables[$0] } ?? JSONObject()
        )
    }

    private func message(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ caller: DeviceCaller,
        _ number: String
    ) -> [InboxEntry] {
        guard let identity = self.caller(tenant, scope, caller), let id = message(tenant, scope, number) else {
            return []
        }
        var found = rows(tenant) { $0.result.identity == identity.id }.filter { $0.0.message == id }
        if found.isEmpty, let user = identity.user {
            found = rows(tenant, ofUser: user, scope).filter { $0.0.message == id }
        }
        return found.isEmpty ? [] : [entry(tenant, id, found.map(\.1))].compactMap(\.self)
    }

    private func unreceived(_ tenant: TenantID, _ identity: IdentityRow, at: Timestamp) -> [DeliveryKey] {
        rows(tenant) { $0.result.identity == identity.id && $0.receivedAt == nil }.map(\.0)
            .filter { isDue(tenant, $0.message, at) }.sorted { $0.message < $1.message }
    }

    private mutating func poll(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ caller: DeviceCaller,
        _ limit: Int,
        at: Timestamp
    ) -> [InboxEntry] {
        guard let identity = self.caller(tenant, scope, caller) else { return [] }
        var polled: [InboxEntry] = []
        for key in unreceived(tenant, identity, at: at).prefix(limit) {
            mark(tenant, key, .received, at: at)
            guard let row = deliveries[Scoped(tenant, key)], var entry = entry(tenant, key.message, [row]) else {
                continue
            }
            entry.user = identity.user
            polled.append(entry)
        }
        return polled
    }

    // MARK: Receipts and numbers

    /// The push's own state moves only from `sent` on. False: nothing changed.
    @discardableResult
    private mutating func mark(_ tenant: TenantID, _ key: DeliveryKey, _ kind: ReceiptKind, at: Timestamp) -> Bool {
        guard var row = deliveries[Scoped(tenant, key)], row.readAt == nil, kind == .read || row.receivedAt == nil
        else {
            return false
        }
        row.receivedAt = row.receivedAt ?? at
        if kind == .read { row.readAt = at }
        let news: DeliveryState = kind == .read ? .read : .received
        if [.sent, .received].contains(row.state) { row.state = news }
        put(tenant, key, row, as: news)
        return true
    }

    private mutating func report(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ caller: DeviceCaller,
        _ number: String,
        _ kind: ReceiptKind,
        at: Timestamp
    ) -> ReceiptReport {
        guard let identity = self.caller(tenant, scope, caller) else { return .unknownDevice }
        guard let id = message(tenant, scope, number) else { return .unknownMessage }
        switch receipt(tenant, scope, id, Reporter(key: identity.key), kind, at: at) {
        case .recorded: return .recorded
        case .repeated: return .repeated
        case .orphan, .acknowledged: break
        }
        var found = rows(tenant) { $0.result.identity == identity.id }.filter { $0.0.message == id }
        if found.isEmpty, let user = identity.user {
            found = rows(tenant, ofUser: user, scope).filter { $0.0.message == id }
        }
        guard let key = found.min(by: { $0.0.target < $1.0.target })?.0 else { return .unknownMessage }
        return mark(tenant, key, kind, at: at) ? .recorded : .repeated
    }

    private mutating func draw(_ tenant: TenantID, _ scope: AppScope, _ count: Int, now: Timestamp) -> MessageNumbers {
        let index = Scoped(tenant, scope)
        let start = now.seconds * MessageNumber.perSecond
        let last = max((lastNumbers[index] ?? 0) + Int64(count), start + Int64(count) - 1)
        lastNumbers[index] = last
        return MessageNumbers(first: MessageNumber(rawValue: last - Int64(count) + 1), count: count)
    }

    private mutating func number(
        _ tenant: TenantID,
        _ message: MessageID,
        _ numbers: [Vendor: String],
        _ targets: [TargetID]
    ) -> Int {
        guard messages[Scoped(tenant, message)] != nil else { return 0 }
        numbersByMessage[Scoped(tenant, message), default: [:]].merge(numbers) { first, _ in first }
        for target in targets {
            let key = Scoped(tenant, DeliveryKey(message: message, target: target))
            let identity = deliveries[key]?.result.identity.flatMap { identities[Scoped(tenant, $0)] }
            deliveries[key]?.result.user = identity?.user
        }
        return 1
    }
}
