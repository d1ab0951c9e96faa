import Commands
import DeliveryEngine
import Model

extension MemoryTables {
    struct CampaignIndex: Hashable, Sendable {
        var scope: AppScope
        var id: String
    }
    struct ScheduleIndex: Hashable, Sendable {
        var scope: AppScope
        var id: MessageID
    }
    struct ScheduleRow: Sendable {
        var message: MessageID
        var request: JSONObject
    }
    struct LabelIndex: Hashable, Sendable {
        var scope: AppScope
        var label: String
    }

    mutating func runCampaigns(
        _ statement: CampaignStatement,
        _ scope: AppScope,
        in tenant: TenantID,
        now: Timestamp
    ) -> StoreAnswer {
        switch statement {
        case .put(let id, let name, let body, let limit, _):
            return .campaignPut(isNew: put(tenant, scope, id, name, body, limit, now))
        case .find(let id):
            let found = campaigns[Scoped(tenant, CampaignIndex(scope: scope, id: id))]
            return .campaigns(found.map { [$0] } ?? [])
        case .list(let after, let limit):
            let own = campaigns.filter { $0.key.tenant == tenant && $0.key.value.scope == scope }.map(\.value)
            let rest = own.filter { campaign in after.map { Self.isBefore($0, campaign.id) } ?? true }
            return .campaigns(Array(rest.sorted { Self.isBefore($0.id, $1.id) }.prefix(limit)))
        case .remove(let id, _):
            let removed = campaigns.removeValue(forKey: Scoped(tenant, CampaignIndex(scope: scope, id: id)))
            return .count(removed == nil ? 0 : 1)
        // `isOutdated` was asked before.
        case .withdraw(let version): return .count(control(tenant, scope, version.message, .cancel, at: now))
        case .keep(let draft, let message):
            let index = ScheduleIndex(scope: scope, id: draft.replaced?.id ?? message)
            schedules[Scoped(tenant, index)] = ScheduleRow(message: message, request: draft.request)
            return .count(1)
        case .schedule(let id): return .schedules(schedule(tenant, scope, id).map { [$0] } ?? [])
        case .schedules(let until, let limit):
            let own = schedules.keys.filter { $0.tenant == tenant && $0.value.scope == scope }
                .compactMap { schedule(tenant, scope, $0.value.id) }
                .filter { found in found.state == .scheduled && (until.map { found.dueAt <= $0 } ?? true) }
            return .schedules(Array(own.sorted { ($0.dueAt, $0.id) < ($1.dueAt, $1.id) }.prefix(limit)))
        case .drop(let id, let at):
            guard let found = schedule(tenant, scope, id), found.state == .scheduled else { return .count(0) }
            _ = control(tenant, scope, found.message, .cancel, at: at)
            schedules[Scoped(tenant, ScheduleIndex(scope: scope, id: id))] = nil
            return .count(1)
        case .label(let message, let names):
            for name in names {
                labels[Scoped(tenant, LabelIndex(scope: scope, label: name)), default: []].insert(message)
            }
            return .count(names.count)
        case .series(let label, let days): return .series(series(tenant, scope, label, days))
        }
    }

    /// Whether a schedule is no longer what was read, or no longer to come.
    func isOutdated(_ statement: CampaignStatement, _ scope: AppScope, in tenant: TenantID) -> Bool {
        guard case .withdraw(let replaced) = statement else { return false }
        let found = schedule(tenant, scope, replaced.id)
        return found?.message != replaced.message || found?.state != .scheduled
    }

    private static func isBefore(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }

    private mutating func put(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ id: String,
        _ name: String,
        _ body: JSONObject,
        _ limit: Int,
        _ now: Timestamp
    ) -> Bool? {
        let index = Scoped(tenant, CampaignIndex(scope: scope, id: id))
        let known = campaigns[index]
        let count = campaigns.keys.count { $0.tenant == tenant && $0.value.scope == scope }
        if known == nil, count >= limit { return nil }
        campaigns[index] = Campaign(
            id: id,
            name: name,
            body: body,
            createdAt: known?.createdAt ?? now,
            updatedAt: now
        )
        return known == nil
    }

    private func schedule(_ tenant: TenantID, _ scope: AppScope, _ id: MessageID) -> Schedule? {
        guard let row = schedules[Scoped(tenant, ScheduleIndex(scope: scope, id: id))],
            let message = messages[Scoped(tenant, row.message)]
        else { return nil }
        return Schedule(
            id: id,
            message: row.message,
            state: message.state,
            dueAt: message.message.dueAt,
            isLocal: message.message.localDue != nil,
            request: row.request
        )
    }

    private func series(_ tenant: TenantID, _ scope: AppScope, _ label: String, _ days: ClosedRange<Int32>)
        -> [SeriesDay]
    {
        let own = labels[Scoped(tenant, LabelIndex(scope: scope, label: label))] ?? []
        let byDay = Dictionary(grouping: own) { messages[Scoped(tenant, $0)]?.message.dueAt.day ?? 0 }
        return byDay.filter { days.contains($0.key) }.sorted { $0.key < $1.key }.compactMap { day, found in
            let rows = found.flatMap { message in
                (targetsByMessage[Scoped(tenant, message)] ?? [])
                    .compactMap { deliveries[Scoped(tenant, DeliveryKey(message: message, target: $0))] }
            }
            guard !rows.isEmpty else { return nil }
            let sent = rows.filter { [.sent, .received, .read].contains($0.state) }
            return SeriesDay(
                day: day,
                sent: sent.count,
                read: rows.count { $0.state == .read },
                failed: rows.count { $0.state == .failed },
                users: Set(sent.map { $0.result.user?.rawValue ?? "\u{1F}\($0.result.target)" }).count
            )
        }
    }
}
