import Commands
import DeliveryEngine
import Model

extension MemoryTables {
    /// Whether a statement builds on what has changed since it was read.
    func isOutdated(_ statement: StoreStatement, in tenant: TenantID) -> Bool {
        if case .campaigns(let scope, let own) = statement { return isOutdated(own, scope, in: tenant) }
        guard case .expect(let scope, let key, let attributes) = statement else { return false }
        guard let row = identityRow(tenant, scope, key), row.state == .active else { return true }
        return JSONWriter.bytes(.object(row.attributes)) != JSONWriter.bytes(.object(attributes))
    }

    func report(_ tenant: TenantID, _ scope: AppScope, _ message: MessageID) -> MessageReport? {
        guard let row = messages[Scoped(tenant, message)], row.message.scope == scope else { return nil }
        let rows = (targetsByMessage[Scoped(tenant, message)] ?? [])
            .compactMap { deliveries[Scoped(tenant, DeliveryKey(message: message, target: $0))] }
        var report = MessageReport(
            message: message,
            state: row.state,
            content: row.message.content,
            acceptedAt: row.message.acceptedAt
        )
        let groups = Dictionary(grouping: rows) { [$0.state.rawValue, $0.result.reason ?? ""] }
        report.tallies = groups.sorted { $0.key.lexicographicallyPrecedes($1.key) }.compactMap { _, rows in
            rows.first.map { MessageReport.Tally(state: $0.state, reason: $0.result.reason, count: rows.count) }
        }
        report.firstAt = rows.map(\.result.at).min()
        report.lastAt = rows.map(\.result.at).max()
        return report
    }
}
