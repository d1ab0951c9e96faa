import Model
import PostgresClient
import Store

/// Reads the rows of `EventReaderSQL.page`.
enum LoggedEventRow {
    /// Nil: an event of a kind that is not counted.
    static func read(_ row: Row) throws(PostgresError) -> LoggedEvent? {
        guard let kind = LoggedEvent.Kind(rawValue: try row.text("kind")) else { return nil }
        return LoggedEvent(
            kind,
            at: try row.time("at"),
            before: try row.optionalText("before"),
            app: try row.id("app_id"),
            vendor: try row.optionalID("vendor") ?? "",
            delivery: try delivery(row)
        )
    }

    /// Nil: the event has none, or it was removed.
    private static func delivery(_ row: Row) throws(PostgresError) -> LoggedDelivery? {
        guard let state = try row.optionalText("state") else { return nil }
        var delivery = LoggedDelivery(
            key: LoggedDelivery.Key(
                dueDay: Int32(clamping: try row.int("due_day")),
                message: try row.id("message_id"),
                target: try row.id("target_id")
            ),
            state: state,
            hasTransport: try row.bool("has_transport"),
            transportMilliseconds: try row.optionalInt("transport_ms").map { Int64($0) },
            sentAt: try row.optionalTime("sent_at"),
            receivedAt: try row.optionalTime("received_at"),
            readAt: try row.optionalTime("read_at"),
            device: try row.optionalID("device_id"),
            user: try row.optionalID("user_id")
        )
        delivery.dueAt = try row.optionalTime("due_at")
        delivery.client = try row.optionalInt("client").map { Int64($0) }
        delivery.localHour = try row.optionalInt("local_hour").flatMap { WeekHour($0) }
        return delivery
    }
}
