import Commands
import Model

// Campaigns, schedules and labels.
extension PostgresCommandStore {
    func campaigns(_ tenant: TenantID, _ scope: AppScope, _ statement: CampaignStatement) -> StoreQuestion {
        let own: [PostgresValue] = [.id(tenant), .id(scope.app), .id(scope.vendor)]
        switch statement {
        case .put(let id, let name, let body, let limit, let actor):
            let values: [PostgresValue] = [
                .string(id), .string(name), .string(DocumentText.of(body)), .int(limit), .string(actor),
            ]
            return StoreQuestion(CampaignSQL.put.with(own + values)) { (result) throws(PostgresError) in
                let row = try result.only()
                return .campaignPut(isNew: try row.isNull("is_new") ? nil : try row.bool("is_new"))
            }
        case .find(let id): return Self.found(CampaignSQL.find.with(own + [.string(id)]))
        case .list(let after, let limit): return Self.found(CampaignSQL.list.with(own + [.string(after), .int(limit)]))
        case .remove(let id, let actor):
            return .counting(CampaignSQL.remove.with(own + [.string(id), .string(actor)]))
        case .withdraw(let version):
            return .counting(CampaignSQL.withdraw.with(own + [.id(version.id), .id(version.message)]))
        case .keep(let draft, let message):
            let values: [PostgresValue] = [
                .id(draft.replaced?.id ?? message), .id(message),
                .string(DocumentText.of(draft.request)),
            ]
            return .changing(CampaignSQL.keep.with(own + values))
        case .schedule(let id): return Self.schedules(CampaignSQL.schedule.with(own + [.id(id)]))
        case .schedules(let until, let limit):
            return Self.schedules(CampaignSQL.schedules.with(own + [.time(until), .int(limit)]))
        case .drop(let id, _): return .counting(CampaignSQL.drop.with(own + [.id(id)]))
        case .label(let message, let labels):
            return .changing(CampaignSQL.label.with(own + [.id(message), .strings(labels)]))
        case .series(let label, let days):
            let values: [PostgresValue] = [.string(label), .int32(days.lowerBound), .int32(days.upperBound)]
            return StoreQuestion(CampaignSQL.series.with(own + values)) { (result) throws(PostgresError) in
                .series(
                    try result.rows { (row) throws(PostgresError) in
                        SeriesDay(
                            day: Int32(clamping: try row.int("due_day")),
                            sent: try row.int("sent"),
                            read: try row.int("read"),
                            failed: try row.int("failed"),
                            users: try row.int("users")
                        )
                    }
                )
            }
        }
    }

    private static func found(_ statement: Statement) -> StoreQuestion {
        StoreQuestion(statement) { (result) throws(PostgresError) in
            .campaigns(
                try result.rows { (row) throws(PostgresError) in
                    Campaign(
                        id: try row.text("campaign_id"),
                        name: try row.text("name"),
                        body: try row.object("body"),
                        createdAt: try row.time("created_at"),
                        updatedAt: try row.time("updated_at")
                    )
                }
            )
        }
    }

    private static func schedules(_ statement: Statement) -> StoreQuestion {
        StoreQuestion(statement) { (result) throws(PostgresError) in
            .schedules(
                try result.rows { (row) throws(PostgresError) in
                    Schedule(
                        id: try row.id("schedule_id"),
                        message: try row.id("message_id"),
                        state: try row.word("state"),
                        dueAt: try row.time("due_at"),
                        isLocal: try row.bool("is_local"),
                        request: try row.object("request")
                    )
                }
            )
        }
    }
}
