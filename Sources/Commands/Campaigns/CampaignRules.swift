import Model

/// Campaigns and schedules: what may be kept.
enum CampaignRules {
    static func plan(_ command: CampaignCommand, _ context: RuleContext) -> Plan {
        switch command {
        case .put(let id, let name, let body):
            guard Storable.isKey(id) else { return .refused(.invalid("id")) }
            guard Storable.fits(name, CommandLimits.nameBytes) else { return .refused(.invalid("name")) }
            guard Storable.fits(.object(body), CommandLimits.contentBytes) else { return .refused(.invalid("body")) }
            let limit = CampaignCommand.countLimit
            return plan(.put(id: id, name: name, body: body, limit: limit, by: context.call.actor), context) { answer in
                guard case .campaignPut(let isNew) = answer else { return nil }
                return isNew.map { .submission(.campaign(.put(isNew: $0))) }
                    ?? .refused(.tooMany("campaigns", limit: limit))
            }
        case .find(let id):
            guard Storable.isKey(id) else { return .settled(.submission(.campaign(.found(nil)))) }
            return plan(.find(id), context) { answer in
                if case .campaigns(let found) = answer { .submission(.campaign(.found(found.first))) } else { nil }
            }
        case .list(let after, let limit):
            guard after.map(Storable.isKey) ?? true else { return .refused(.invalid("after")) }
            return plan(.list(after: after, limit: bounded(limit)), context) { answer in
                if case .campaigns(let found) = answer { .submission(.campaign(.listed(found))) } else { nil }
            }
        case .remove(let id):
            guard Storable.isKey(id) else { return .settled(.submission(.campaign(.removed(false)))) }
            return plan(.remove(id, by: context.call.actor), context, reply: removed)
        case .schedule(let id):
            return plan(.schedule(id), context) { answer in
                if case .schedules(let found) = answer { .submission(.campaign(.schedule(found.first))) } else { nil }
            }
        case .schedules(let until, let limit):
            return plan(.schedules(until: until, limit: bounded(limit)), context) { answer in
                if case .schedules(let found) = answer { .submission(.campaign(.schedules(found))) } else { nil }
            }
        case .cancelSchedule(let id): return plan(.drop(id, at: context.now), context, reply: removed)
        case .series(let label, let days):
            guard Storable.fits(label, CommandLimits.labelBytes), days.count <= CampaignCommand.dayLimit else {
                return .refused(.invalid("series"))
            }
            return plan(.series(label: label, days: days), context) { answer in
                if case .series(let days) = answer { .submission(.campaign(.series(days))) } else { nil }
            }
        case .makeName:
            return .settled(.submission(.campaign(.name(context.identifiers.randomHex(byteCount: 16)))))
        }
    }

    private static func bounded(_ limit: Int) -> Int { min(max(1, limit), CampaignCommand.rowLimit) }

    private static func removed(_ answer: StoreAnswer) -> Reply? {
        if case .count(let count) = answer { .submission(.campaign(.removed(count > 0))) } else { nil }
    }

    private static func plan(
        _ statement: CampaignStatement,
        _ context: RuleContext,
        reply: @escaping @Sendable (StoreAnswer) -> Reply?
    ) -> Plan {
        Plan(.campaigns(context.scope, statement), reply: reply)
    }
}
