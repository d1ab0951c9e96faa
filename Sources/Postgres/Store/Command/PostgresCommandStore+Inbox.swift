import Commands
import Model

// Receipts, history, media.
extension PostgresCommandStore {
    func receipt(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ message: MessageID,
        _ reporter: Reporter,
        _ kind: ReceiptKind,
        _ at: Timestamp
    ) -> StoreQuestion {
        let statement = InboxSQL.receipt(
            .id(tenant),
            .id(scope.app),
            .id(scope.vendor),
            .id(message),
            .id(reporter.key),
            .text(kind.rawValue),
            .time(at),
            .id(node)
        )
        let fold = Fold(
            sql: InboxSQL.receipts.text,
            shared: [.id(tenant), .id(scope.app), .id(scope.vendor), .id(node)],
            row: [.id(message), .id(reporter.key), .text(kind.rawValue), .time(at)]
        )
        return StoreQuestion(statement, fold: fold) { (result) throws(PostgresError) in
            switch try result.only().text("outcome") {
            case "recorded": .receipt(.recorded)
            case "repeated": .receipt(.repeated)
            default: .receipt(.orphan)
            }
        }
    }

    func delivery(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ message: MessageID,
        _ reporter: Reporter
    ) -> StoreQuestion {
        StoreQuestion(
            InboxSQL.delivery(.id(tenant), .id(scope.app), .id(scope.vendor), .id(message), .id(reporter.key))
        ) { (result) throws(PostgresError) in
            guard let row = result.first else { return .delivery(nil, platform: nil) }
            let platform = try row.optionalText("platform").flatMap { Platform(rawValue: $0) }
            guard try !row.isNull("message_id") else { return .delivery(nil, platform: platform) }
            return .delivery(try SnapshotRow.read(row), platform: platform)
        }
    }

    func touch(_ tenant: TenantID, _ scope: AppScope, _ key: VendorDeviceKey, _ at: Timestamp) -> StoreQuestion {
        .changing(InboxSQL.touch(.id(tenant), .id(scope.app), .id(scope.vendor), .id(key), .time(at)))
    }

    func undelivered(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ key: VendorDeviceKey,
        _ since: Timestamp,
        _ limit: Int
    ) -> StoreQuestion {
        // A week earlier: what was sent since may have been due before, while its credential was stopped.
        let firstDay = max(since.day, 7) - 7
        let statement = InboxSQL.undelivered(
            .id(tenant),
            .id(scope.app),
            .id(scope.vendor),
            .id(key),
            .int32(firstDay),
            .time(since),
            .int(max(0, limit))
        )
        return StoreQuestion(statement) { (result) throws(PostgresError) in
            .inbox(try result.rows(Self.inboxEntry))
        }
    }

    private static func inboxEntry(_ row: Row) throws(PostgresError) -> InboxEntry {
        InboxEntry(
            notification: try NotificationRow.read(row),
            sender: try row.optionalID("sender_id"),
            receivedAt: try row.optionalTime("received_at"),
            readAt: try row.optionalTime("read_at")
        )
    }

    func putMedia(
        _ tenant: TenantID,
        _ hash: String,
        _ contentType: String,
        _ bytes: [UInt8],
        _ at: Timestamp
    ) -> StoreQuestion {
        .changing(
            InboxSQL.putMedia(.id(tenant), .string(hash), .string(contentType), .bytes(bytes), .time(at))
        )
    }

    func media(_ tenant: TenantID, _ scope: AppScope, _ message: MessageID, _ media: String) -> StoreQuestion {
        StoreQuestion(
            InboxSQL.media(.id(tenant), .id(scope.app), .id(message), .string(media)),
            fold: nil,
            Self.media
        )
    }

    func ownMedia(_ tenant: TenantID, _ scope: AppScope, _ number: String, _ owner: String) -> StoreQuestion {
        StoreQuestion(
            InboxSQL.ownMedia(.id(tenant), .id(scope.app), .id(scope.vendor), .string(number), .string(owner)),
            fold: nil,
            Self.media
        )
    }

    private static func media(_ result: ResultSet) throws(PostgresError) -> StoreAnswer {
        guard let row = result.first else { return .noMedia }
        return .media(bytes: try row.bytes("bytes"), contentType: try row.text("content_type"))
    }
}
