import Model
import Store

/// The rules for stored campaigns and schedules.
enum CampaignRules {
    static func plan(_ command: CampaignCommand, _ context: RuleContext) -> Plan {
        let scope = context.scope
        switch command {
        case .put(let id, let name, let body): return put(id, name, body, context)
        case .find(let id):
            guard Storable.isKey(id) else { return .settled(.campaign(.found(nil))) }
            return Plan(FindCampaign(scope, id: id)) { .campaign(.found($0)) }
        case .list(let after, let limit):
            guard after.map(Storable.isKey) ?? true else { return .refused(.invalid("after")) }
            return Plan(ListCampaigns(scope, after: after, limit: bounded(limit))) {
                .campaign(.listed($0))
            }
        case .remove(let id):
            guard Storable.isKey(id) else { return .settled(.campaign(.removed(false))) }
            return Plan(RemoveCampaign(scope, id: id, by: context.call.actor)) { removed($0) }
        case .schedule(let id): return Plan(FindSchedule(scope, id)) { .campaign(.schedule($0)) }
        case .schedules(let until, let limit):
            return Plan(ListSchedules(scope, until: until, limit: bounded(limit))) {
                .campaign(.schedules($0))
            }
        case .cancelSchedule(let id): return Plan(DropSchedule(scope, id)) { removed($0) }
        case .series(let label, let days):
            guard Storable.fits(label, CommandLimits.labelBytes), days.count <= CampaignCommand.dayLimit else {
                return .refused(.invalid("series"))
            }
            return Plan(CountSeries(scope, label: label, days: days)) { .campaign(.series($0)) }
        case .makeName:
            return .settled(.campaign(.name(context.identifiers.randomHex(byteCount: 16))))
        case .visit(let user, let campaign): return visit(user, campaign, context)
        }
    }

    private static func put(_ id: String, _ name: String, _ body: JSONObject, _ context: RuleContext) -> Plan {
        guard Storable.isKey(id) else { return .refused(.invalid("id")) }
        guard Storable.fits(name, CommandLimits.nameBytes) else { return .refused(.invalid("name")) }
        guard Storable.fits(.object(body), CommandLimits.contentBytes) else { return .refused(.invalid("body")) }
        let limit = CampaignCommand.countLimit
        return Plan(
            PutCampaign(context.scope, id: id, name: name, body: body, limit: limit, by: context.call.actor)
        ) { isNew in
            isNew.map { .campaign(.put(isNew: $0)) } ?? .refused(.tooMany("campaigns", limit: limit))
        }
    }

    /// Records a user's visit because of a campaign.
    private static func visit(_ user: UserID, _ campaign: String?, _ context: RuleContext) -> Plan {
        guard Storable.isKey(user.rawValue), Storable.fits(campaign, CommandLimits.keyBytes) else {
            return .settled(.campaign(.visited(false)))
        }
        return Plan(NoteVisit(context.scope, user, campaign: campaign, at: context.now)) { count in
            .campaign(.visited(count > 0))
        }
    }

    private static func bounded(_ limit: Int) -> Int { min(max(1, limit), CampaignCommand.rowLimit) }

    private static func removed(_ count: Int) -> Reply { .campaign(.removed(count > 0)) }
}
