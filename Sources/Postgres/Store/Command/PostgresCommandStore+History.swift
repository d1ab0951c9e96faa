import Commands
import FoundationEssentials
import Model

// Histories, polling and receipts by number.
extension PostgresCommandStore {
    func history(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ caller: DeviceCaller,
        _ page: HistoryPage,
        _ at: Timestamp
    ) -> StoreQuestion {
        if let look = page.look {
            return Self.looked(HistorySQL.look.with(Self.find(tenant, scope, caller, page, look, at)))
        }
        let statement = HistorySQL.page.with(
            Self.caller(tenant, scope, caller) + Self.owner(page.owner) + [
                .string(page.before), .id(MessageID.first(after: at)), .int32(at.day),
                .int32(Int32(clamping: page.count)), .time(at), .id(node),
            ]
        )
        return Self.entries(statement)
    }

    func unread(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ caller: DeviceCaller,
        _ owner: HistoryPage.Owner,
        _ hiddenBy: String?,
        _ limit: Int,
        _ at: Timestamp
    ) -> StoreQuestion {
        let look = HistoryLook(isRead: false, hiddenBy: hiddenBy)
        let page = HistoryPage(owner, count: max(0, limit), look: look)
        return .counting(HistorySQL.unread.with(Self.find(tenant, scope, caller, page, look, at)))
    }

    func userMessage(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ caller: DeviceCaller,
        _ user: UserID,
        _ number: String,
        _ hiddenBy: String?
    ) -> StoreQuestion {
        let parameters: [PostgresValue] = [.id(user), .string(number), .string(hiddenBy)]
        return Self.looked(HistorySQL.userMessage.with(Self.reader(tenant, scope, caller) + parameters))
    }

    func inboxMessage(_ tenant: TenantID, _ scope: AppScope, _ caller: DeviceCaller, _ number: String) -> StoreQuestion
    {
        Self.entries(HistorySQL.message.with(Self.caller(tenant, scope, caller) + [.string(number)]))
    }

    func poll(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ caller: DeviceCaller,
        _ limit: Int,
        _ at: Timestamp
    ) -> StoreQuestion {
        Self.entries(
            HistorySQL.poll.with(
                Self.caller(tenant, scope, caller) + [
                    .id(MessageID.first(after: at)), .int32(Int32(clamping: limit)), .time(at), .id(node),
                ]
            )
        )
    }

    func unreceived(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ caller: DeviceCaller,
        _ limit: Int,
        _ at: Timestamp
    ) -> StoreQuestion {
        let parameters: [PostgresValue] = [.id(MessageID.first(after: at)), .int(max(0, limit))]
        return .counting(HistorySQL.unreceived.with(Self.caller(tenant, scope, caller) + parameters))
    }

    func reportNumber(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ caller: DeviceCaller,
        _ number: String,
        _ kind: ReceiptKind,
        _ at: Timestamp
    ) -> StoreQuestion {
        let statement = HistorySQL.report.with(
            Self.caller(tenant, scope, caller) + [.string(number), .text(kind.rawValue), .time(at), .id(node)]
        )
        let fold = Fold(
            sql: HistorySQL.reports.text,
            shared: [.id(tenant), .id(scope.app), .id(scope.vendor), .id(node)],
            row: [.id(caller.key), .string(number), .text(kind.rawValue), .time(at)]
        )
        return StoreQuestion(statement, fold: fold) { (result) throws(PostgresError) in
            switch try result.only().text("outcome") {
            case "recorded": .reported(.recorded)
            case "repeated": .reported(.repeated)
            case "unknown_device": .reported(.unknownDevice)
            default: .reported(.unknownMessage)
            }
        }
    }

    private static func entries(_ statement: Statement) -> StoreQuestion {
        StoreQuestion(statement) { (result) throws(PostgresError) in
            .inbox(try result.rows { (row) throws(PostgresError) in try entry(row) })
        }
    }

    private static func entry(_ row: Row) throws(PostgresError) -> InboxEntry {
        InboxEntry(
            notification: try NotificationRow.read(row),
            sender: try row.optionalID("sender_id"),
            user: try row.optionalID("user_id"),
            receivedAt: try row.optionalTime("received_at"),
            readAt: try row.optionalTime("read_at")
        )
    }

    /// The entries of `HistorySQL.look` and `userMessage`, which tell more of each.
    private static func looked(_ statement: Statement) -> StoreQuestion {
        StoreQuestion(statement) { (result) throws(PostgresError) in
            .inbox(
                try result.rows { (row) throws(PostgresError) in
                    var entry = try entry(row)
                    entry.wasSent = try row.bool("was_sent")
                    entry.variables = try row.object("variables")
                    entry.name = try row.optionalText("name")
                    return entry
                }
            )
        }
    }

    /// The parameters of `find_history`.
    private static func find(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ caller: DeviceCaller,
        _ page: HistoryPage,
        _ look: HistoryLook,
        _ at: Timestamp
    ) -> [PostgresValue] {
        reader(tenant, scope, caller) + owner(page.owner) + [
            .string(page.before), .id(MessageID.first(after: at)), .int32(at.day), .bool(look.isRead),
            .string(look.hiddenBy), .int32(Int32(HistoryPage.lookLimit)), .int32(Int32(clamping: page.count)),
        ]
    }

    /// `device`, or `user` and who is named.
    private static func owner(_ owner: HistoryPage.Owner) -> [PostgresValue] {
        switch owner {
        case .device: [.text("device"), .string(nil)]
        case .user(let named): [.text("user"), .id(named)]
        }
    }

    /// As `caller`, and the user that may stand for a device.
    private static func reader(_ tenant: TenantID, _ scope: AppScope, _ caller: DeviceCaller) -> [PostgresValue] {
        Self.caller(tenant, scope, caller) + [.id(caller.user)]
    }

    /// Tenant, app, dialect, key, token: how every function of a caller begins.
    private static func caller(_ tenant: TenantID, _ scope: AppScope, _ caller: DeviceCaller) -> [PostgresValue] {
        [.id(tenant), .id(scope.app), .id(scope.vendor), .id(caller.key), .string(caller.token?.text)]
    }
}

// Preferences and numbers.
extension PostgresCommandStore {
    func preferences(_ tenant: TenantID, _ scope: AppScope, _ caller: DeviceCaller) -> StoreQuestion {
        StoreQuestion(
            HistorySQL.preferences.with(Self.reader(tenant, scope, caller)),
            fold: caller.key.map { key in
                Fold(
                    sql: HistorySQL.manyPreferences.text,
                    shared: [.id(tenant), .id(scope.app), .id(scope.vendor)],
                    row: [.id(key)],
                    subject: key.rawValue
                )
            }
        ) { (result) throws(PostgresError) in
            guard let row = result.first else { return .preferences(nil) }
            return .preferences(
                DevicePreferences(
                    acceptsPush: try row.bool("accepts_push"),
                    window: try ClockRow.read(row).window,
                    user: try row.optionalID("user_id"),
                    alias: try row.optionalID("alias")
                )
            )
        }
    }

    func setPreferences(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ caller: DeviceCaller,
        _ change: PreferenceChange
    ) -> StoreQuestion {
        let statement = HistorySQL.setPreferences.with(
            Self.caller(tenant, scope, caller) + [
                .bool(change.acceptsPush), .string(change.timeZone?.text),
                .int32(change.windowFrom.map { Int32(clamping: $0) }),
                .int32(change.windowTo.map { Int32(clamping: $0) }), .id(change.alias),
            ]
        )
        var fold: Fold?
        if let key = caller.key, let accepts = change.acceptsPush, change == PreferenceChange(acceptsPush: accepts) {
            fold = Fold(
                sql: HistorySQL.setManyPreferences.text,
                shared: [.id(tenant), .id(scope.app), .id(scope.vendor), .bool(accepts)],
                row: [.id(key)],
                subject: key.rawValue
            )
        }
        return StoreQuestion(statement, fold: fold) { (result) throws(PostgresError) in
            .count(try result.only().int("count"))
        }
    }

    func drawNumbers(_ tenant: TenantID, _ scope: AppScope, _ count: Int) -> StoreQuestion {
        StoreQuestion(
            HistorySQL.drawNumbers(.id(tenant), .id(scope.app), .id(scope.vendor), .int(count))
        ) { (result) throws(PostgresError) in
            let last = try result.only().int64("last")
            return .numbers(MessageNumbers(first: MessageNumber(rawValue: last - Int64(count) + 1), count: count))
        }
    }

    func number(
        _ tenant: TenantID,
        _ message: MessageID,
        _ numbers: [Vendor: String],
        _ targets: [TargetID],
        _ inboxes: Set<Vendor>
    ) -> StoreQuestion {
        let pairs = numbers.sorted { $0.key < $1.key }
        return .counting(
            HistorySQL.number(
                .id(tenant),
                .id(message),
                .strings(pairs.map(\.key.rawValue)),
                .strings(pairs.map(\.value)),
                .ids(targets),
                .strings(inboxes.map(\.rawValue).sorted())
            )
        )
    }

    func numbers(_ tenant: TenantID, _ message: MessageID) -> StoreQuestion {
        StoreQuestion(HistorySQL.numbers(.id(tenant), .id(message))) { (result) throws(PostgresError) in
            .numbered(NumberRow.read(try result.first?.object("numbers") ?? JSONObject()))
        }
    }
}

extension MessageID {
    /// The least id of the millisecond after `moment`: the ids below it are of messages that are due by then.
    static func first(after moment: Timestamp) -> MessageID? { first(at: moment + .milliseconds(1)) }
}
