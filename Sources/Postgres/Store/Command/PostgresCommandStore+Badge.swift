import Commands
import Model

// Badges, receipts by number, whose a device is.
extension PostgresCommandStore {
    func assignUser(_ tenant: TenantID, _ scope: AppScope, _ key: VendorDeviceKey, _ change: UserChange)
        -> StoreQuestion
    {
        var word = "keep"
        var fields: [PostgresValue] = [.string(nil), .string(nil), .string(nil)]
        var isExclusive = false
        switch change {
        case .keep: break
        case .clear: word = "clear"
        case .set(let user, let name, let phone, let excludes):
            word = "set"
            fields = [.id(user), .string(name), .string(phone)]
            isExclusive = excludes
        }
        let shared: [PostgresValue] = [.id(tenant), .id(scope.app), .id(scope.vendor)]
        let row: [PostgresValue] = [.id(key), .text(word)] + fields
        let statement = BadgeSQL.assign.with(shared + row + [.bool(isExclusive)])
        // Taking a user from others' devices goes alone.
        let fold =
            isExclusive
            ? nil
            : Fold(
                sql: BadgeSQL.assignMany.text,
                shared: shared,
                row: row,
                subject: key.rawValue,
                limit: Self.foldedRegistrations
            )
        return StoreQuestion(statement, fold: fold) { (result) throws(PostgresError) in
            guard let row = result.first else { return .assigned(nil) }
            return .assigned(AssignedUser(user: try row.optionalID("user_id"), hasMoved: try row.bool("has_moved")))
        }
    }

    func standing(_ tenant: TenantID, _ scope: AppScope, _ key: VendorDeviceKey) -> StoreQuestion {
        StoreQuestion(
            BadgeSQL.standing(.id(tenant), .id(scope.app), .id(scope.vendor), .id(key))
        ) { (result) throws(PostgresError) in
            guard let row = result.first else { return .standing(nil) }
            return .standing(try Self.standing(row))
        }
    }

    func identities(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ filter: IdentityFilter,
        _ from: VendorDeviceKey?,
        _ limit: Int
    ) -> StoreQuestion {
        let parameters: [PostgresValue] = [
            .id(tenant), .id(scope.app), .id(scope.vendor), .string(from?.rawValue ?? ""), .int(limit),
        ]
        let statement =
            switch filter {
            case .all: RegistrationSQL.listedAll.with(parameters)
            case .token(let token): RegistrationSQL.listedByToken.with(parameters + [.string(token.text)])
            case .tag(let tag): RegistrationSQL.listedByTag.with(parameters + [.tags([tag, .ofVariant(tag)])])
            }
        return StoreQuestion(statement) { (result) throws(PostgresError) in
            var found: [ListedIdentity] = []
            for row in result { found.append(ListedIdentity(key: try row.id("key"), standing: try Self.standing(row))) }
            return .identities(found)
        }
    }

    private static func standing(_ row: Row) throws(PostgresError) -> IdentityStanding {
        IdentityStanding(
            state: try row.word("state"),
            token: try row.optionalText("token").map { DeviceToken(stored: $0) },
            user: try row.optionalID("user_id"),
            tokenState: try row.word("token_state"),
            attributes: try row.object("attributes")
        )
    }

    private func reporter(_ holder: BadgeHolder) -> [PostgresValue] {
        [.id(holder.key), .string(holder.token?.text), .id(holder.user)]
    }

    func setBadge(_ tenant: TenantID, _ scope: AppScope, _ holder: BadgeHolder, _ count: Int?) -> StoreQuestion {
        let statement = BadgeSQL.set.with(
            [.id(tenant), .id(scope.app), .id(scope.vendor)] + reporter(holder)
                + [.int32(count.map { Int32(clamping: $0) })]
        )
        return StoreQuestion(statement) { (result) throws(PostgresError) in
            .badge(try result.only().optionalInt("badge"))
        }
    }

    func acknowledge(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ message: MessageReference,
        _ holder: BadgeHolder,
        _ kind: ReceiptKind,
        _ change: BadgeChange?,
        _ at: Timestamp
    ) -> StoreQuestion {
        var number: String?
        var id: MessageID?
        switch message {
        case .number(let text): number = text
        case .id(let value): id = value
        }
        let badge: Int32? =
            switch change {
            case nil: nil
            case .keep: -1
            case .set(let count): Int32(clamping: count)
            }
        let statement = BadgeSQL.acknowledge.with(
            [.id(tenant), .id(scope.app), .id(scope.vendor), .string(number), .id(id)] + reporter(holder)
                + [.text(kind.rawValue), .int32(badge), .time(at), .id(node)]
        )
        return StoreQuestion(statement) { (result) throws(PostgresError) in
            let row = try result.only()
            let reply: ReceiptReply =
                switch try row.text("outcome") {
                case "recorded": .recorded
                case "repeated": .repeated
                default: .orphan
                }
            return .acknowledged(reply, badge: try row.int("badge"))
        }
    }

    func visit(_ tenant: TenantID, _ scope: AppScope, _ user: UserID, _ campaign: String?, _ at: Timestamp)
        -> StoreQuestion
    {
        .changing(
            BadgeSQL.visit(
                .id(tenant),
                .id(scope.app),
                .id(scope.vendor),
                .id(user),
                .string(campaign ?? ""),
                .time(at)
            )
        )
    }
}
