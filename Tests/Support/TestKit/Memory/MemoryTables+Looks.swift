import Commands
import DeliveryEngine
import Model

// Histories that are only looked at.
extension MemoryTables {
    func runLook(_ statement: StoreStatement, in tenant: TenantID) -> StoreAnswer {
        switch statement {
        case .history(let scope, let caller, let page, let at):
            guard let look = page.look, let reader = reader(tenant, scope, caller),
                let found = find(tenant, scope, reader, page, look, at: at)
            else { return .inbox([]) }
            return .inbox(found.map { told($0, reader) })
        case .unread(let scope, let caller, let owner, let hiddenBy, let limit, let at):
            let look = HistoryLook(isRead: false, hiddenBy: hiddenBy)
            let page = HistoryPage(owner, count: limit, look: look)
            guard let reader = reader(tenant, scope, caller) else { return .count(0) }
            return .count(find(tenant, scope, reader, page, look, at: at)?.count ?? 0)
        case .userMessage(let scope, let caller, let user, let number, let hiddenBy):
            guard let reader = reader(tenant, scope, caller), reader.user == user,
                let id = message(tenant, scope, number), !isHidden(tenant, id, by: hiddenBy)
            else { return .inbox([]) }
            let found = rows(tenant, ofUser: user, scope).filter { $0.0.message == id }.map(\.1)
            return .inbox(found.isEmpty ? [] : [entry(tenant, id, found)].compactMap(\.self).map { told($0, reader) })
        default: return .count(0)  // every other statement is run by `run`
        }
    }

    /// The device that calls; where only a user is named, any of his.
    func reader(_ tenant: TenantID, _ scope: AppScope, _ caller: DeviceCaller) -> IdentityRow? {
        if caller.key != nil || caller.token != nil { return self.caller(tenant, scope, caller) }
        guard let user = caller.user else { return nil }
        return activeIdentities(tenant, scope).compactMap { identities[Scoped(tenant, $0)] }
            .first { $0.scope == scope && $0.user == user }
    }

    /// Nil: nothing of that is the reader's.
    private func find(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ reader: IdentityRow,
        _ page: HistoryPage,
        _ look: HistoryLook,
        at: Timestamp
    ) -> [InboxEntry]? {
        var found: [(DeliveryKey, DeliveryRow)]
        switch page.owner {
        case .device: found = rows(tenant) { $0.result.identity == reader.id }
        case .user(let named):
            guard let user = reader.user, named == nil || named == user else { return nil }
            found = rows(tenant, ofUser: user, scope)
        }
        if let number = page.before {
            if let bound = message(tenant, scope, number) {
                found = found.filter { $0.0.message < bound }
            } else {
                // A number that was not given out yet is newer than all, any other that nobody knows is older.
                guard let value = Int(number), value > lastNumber(tenant, scope, "message") else { return nil }
            }
        }
        let ids = Set(found.map(\.0.message)).filter { isDue(tenant, $0, at) }.sorted(by: >)
        let looked = ids.prefix(max(page.count, HistoryPage.lookLimit)).compactMap { id -> InboxEntry? in
            if isHidden(tenant, id, by: look.hiddenBy) { return nil }
            let entry = entry(tenant, id, found.filter { $0.0.message == id }.map(\.1))
            return look.isRead == nil || entry.map { $0.readAt != nil } == look.isRead ? entry : nil
        }
        return Array(looked.prefix(max(0, page.count)))
    }

    private func isHidden(_ tenant: TenantID, _ id: MessageID, by key: String?) -> Bool {
        guard let key else { return false }
        return messages[Scoped(tenant, id)]?.message.content.data[key]?.string == "N"
    }

    private func told(_ entry: InboxEntry, _ reader: IdentityRow) -> InboxEntry {
        var entry = entry
        entry.name = reader.name
        return entry
    }
}
