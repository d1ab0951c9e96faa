import Model
import PostgresClient
import Store

/// Reads the rows of `EventReaderSQL.page`. Its columns are looked up once per page, because a row has nineteen.
struct LoggedEventRow {
    private let kind, at, before, app, vendor: ColumnReference
    private let state, dueDay, message, target, hasTransport, transportMilliseconds: ColumnReference
    private let sentAt, receivedAt, readAt, device, user, dueAt, client, localHour: ColumnReference

    init(_ page: ResultSet) {
        kind = page.column("kind")
        at = page.column("at")
        before = page.column("before")
        app = page.column("app_id")
        vendor = page.column("vendor")
        state = page.column("state")
        dueDay = page.column("due_day")
        message = page.column("message_id")
        target = page.column("target_id")
        hasTransport = page.column("has_transport")
        transportMilliseconds = page.column("transport_ms")
        sentAt = page.column("sent_at")
        receivedAt = page.column("received_at")
        readAt = page.column("read_at")
        device = page.column("device_id")
        user = page.column("user_id")
        dueAt = page.column("due_at")
        client = page.column("client")
        localHour = page.column("local_hour")
    }

    /// Nil: an event of a kind that is not counted.
    func read(_ row: Row) throws(PostgresError) -> LoggedEvent? {
        guard let kind = LoggedEvent.Kind(rawValue: try row.text(kind)) else { return nil }
        return LoggedEvent(
            kind,
            at: try row.time(at),
            before: try row.optionalText(before),
            app: try row.id(app),
            vendor: try row.optionalID(vendor) ?? "",
            delivery: try delivery(row)
        )
    }

    /// Nil: the event has none, or it was removed.
    private func delivery(_ row: Row) throws(PostgresError) -> LoggedDelivery? {
        guard let state = try row.optionalText(state) else { return nil }
        var delivery = LoggedDelivery(
            key: LoggedDelivery.Key(
                dueDay: Int32(clamping: try row.int(dueDay)),
                message: try row.id(message),
                target: try row.id(target)
            ),
            state: state,
            hasTransport: try row.bool(hasTransport),
            transportMilliseconds: try row.optionalInt(transportMilliseconds).map { Int64($0) },
            sentAt: try row.optionalTime(sentAt),
            receivedAt: try row.optionalTime(receivedAt),
            readAt: try row.optionalTime(readAt),
            device: try row.optionalID(device),
            user: try row.optionalID(user)
        )
        delivery.dueAt = try row.optionalTime(dueAt)
        delivery.client = try row.optionalInt(client).map { Int64($0) }
        delivery.localHour = try row.optionalInt(localHour).flatMap { WeekHour($0) }
        return delivery
    }
}
