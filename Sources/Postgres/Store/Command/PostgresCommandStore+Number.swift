import Commands
import Model

// What a vendor numbers: groups and messages, with their recipients.
extension PostgresCommandStore {
    func createGroup(_ tenant: TenantID, _ scope: AppScope, _ title: String) -> StoreQuestion {
        StoreQuestion(
            NumberSQL.createGroup(.id(tenant), .id(scope.app), .id(scope.vendor), .string(title))
        ) { (result) throws(PostgresError) in
            .groupCreated(try result.only().optionalID("name"))
        }
    }

    func titledGroups(_ tenant: TenantID, _ scope: AppScope, _ name: GroupName?, _ limit: Int) -> StoreQuestion {
        StoreQuestion(
            NumberSQL.titledGroups(.id(tenant), .id(scope.app), .id(scope.vendor), .id(name), .int(max(0, limit)))
        ) { (result) throws(PostgresError) in
            .titledGroups(try result.rows(Self.group))
        }
    }

    private static func group(_ row: Row) throws(PostgresError) -> TitledGroup {
        TitledGroup(name: try row.id("group_name"), title: try row.text("title"))
    }

    func members(_ tenant: TenantID, _ scope: AppScope, _ name: GroupName, _ user: UserID?, _ limit: Int)
        -> StoreQuestion
    {
        let statement = NumberSQL.members(
            .id(tenant),
            .id(scope.app),
            .id(scope.vendor),
            .id(name),
            .id(user),
            .int(max(0, limit))
        )
        return StoreQuestion(statement) { (result) throws(PostgresError) in
            guard !result.isEmpty else { return .members(nil) }
            var members: [GroupMember] = []
            for row in result {
                guard let user: UserID = try row.optionalID("user_id") else { continue }
                members.append(
                    GroupMember(group: try Self.group(row), user: user, name: try row.optionalText("name"))
                )
            }
            return .members(members)
        }
    }

    func recipients(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ users: [UserID]?,
        _ tokens: [DeviceToken]?,
        _ limit: Int
    ) -> StoreQuestion {
        let place: [PostgresValue] = [.id(tenant), .id(scope.app), .id(scope.vendor)]
        let texts = tokens.map { $0.map { Optional($0.text) } }
        let statement =
            if let users {
                NumberSQL.recipients.with(
                    place + [.strings(users.map(\.rawValue)), .int(max(0, limit))]
                        + [texts.map { .strings($0) } ?? .untyped(nil)]
                )
            } else {
                NumberSQL.bearers.with(place + [.strings(texts ?? []), .int(max(0, limit))])
            }
        return recipients(statement)
    }

    func recipients(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ groups: [GroupName],
        _ tokens: [DeviceToken],
        _ limit: Int
    ) -> StoreQuestion {
        recipients(
            NumberSQL.groupBearers(
                .id(tenant),
                .id(scope.app),
                .id(scope.vendor),
                .strings(tokens.map(\.text)),
                .int(max(0, limit)),
                .strings(groups.map(\.rawValue))
            )
        )
    }

    private func recipients(_ statement: Statement) -> StoreQuestion {
        StoreQuestion(statement) { (result) throws(PostgresError) in
            let found = try result.rows { (row) throws(PostgresError) in
                let target = ResolvedTarget(
                    identity: try row.id("identity_id"),
                    device: try row.optionalID("device_id"),
                    isReachable: try row.bool("is_reachable"),
                    clock: try ClockRow.read(row)
                )
                let recipient = RecipientTarget(
                    user: try row.optionalID("user_id"),
                    key: try row.id("key"),
                    found: target
                )
                return (try row.int("place"), recipient)
            }
            let order = found.sorted { ($0.0, $0.1.found.identity) < ($1.0, $1.1.found.identity) }
            return .recipients(order.map(\.1))
        }
    }

    func sequenceMessage(_ tenant: TenantID, _ scope: AppScope, _ message: MessageID) -> StoreQuestion {
        StoreQuestion(
            NumberSQL.sequenceMessage(.id(tenant), .id(scope.app), .id(scope.vendor), .id(message))
        ) { (result) throws(PostgresError) in
            .number(try result.only().optionalText("number"))
        }
    }

    func putVariables(_ tenant: TenantID, _ message: MessageID, _ variables: [UserVariables]) -> StoreQuestion {
        .changing(
            NumberSQL.putVariables(
                .id(tenant),
                .id(message),
                .strings(variables.map(\.user.rawValue)),
                .strings(variables.map { DocumentText.of($0.values) })
            )
        )
    }

    func putPage(
        _ tenant: TenantID,
        _ message: MessageID,
        _ page: PageReference,
        _ body: String,
        _ expiresAt: Timestamp
    ) -> StoreQuestion {
        .changing(
            NumberSQL.putPage(
                .id(tenant),
                .string(page.id),
                .id(message),
                .string(page.name),
                .string(body),
                .time(expiresAt)
            )
        )
    }

    func setPace(_ tenant: TenantID, _ message: MessageID, _ pace: Pace) -> StoreQuestion {
        .changing(
            NumberSQL.setPace(
                .id(tenant),
                .id(message),
                .int32(Int32(clamping: pace.count)),
                .int32(Int32(clamping: pace.delay.components.seconds))
            )
        )
    }
}
