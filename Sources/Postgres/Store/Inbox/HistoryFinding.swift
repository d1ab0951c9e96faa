import Model
import PostgresClient

/// What `find_history` is asked for: a page that is only looked at.
struct HistoryFinding: Sendable {
    var scope: AppScope
    var caller: DeviceCaller
    var page: HistoryPage
    var look: HistoryLook
    var at: Timestamp

    static func declare(_ p: inout RoutineParameters<StoreCall, Self>) {
        p.own { $0.scope }
        p["p_key"] = { .id($1.caller.key) }
        p["p_token"] = { .string($1.caller.token?.text) }
        p["p_reader"] = { .id($1.caller.user) }
        p["p_kind"] = { .text($1.page.owner.kind) }
        p["p_user"] = { .id($1.page.owner.user) }
        p["p_number"] = { .string($1.page.before) }
        p["p_now"] = { .id(MessageID.first(after: $1.at)) }
        p["p_today"] = { .int32($1.at.day) }
        p["p_read"] = { .bool($1.look.isRead) }
        p["p_hidden"] = { .string($1.look.hiddenBy) }
        p["p_looks"] = { _, _ in .int32(Int32(HistoryPage.lookLimit)) }
        p["p_limit"] = { .int32(Int32(clamping: $1.page.count)) }
    }

    /// What a call finds, whose first two parameters are tenant and app and the next four the caller, with its content.
    static func content(of call: String) -> String {
        """
        SELECT r.*, i.name FROM (
            SELECT array_agg(f.message_id) AS ids, array_agg(f.user_id) AS users, array_agg(f.received_at) AS received,
                array_agg(f.read_at) AS read
            FROM \(call) f) w
        CROSS JOIN gateway.reading_identity($1, $2, $3, $4, $5, $6) i
        CROSS JOIN LATERAL gateway.read_messages($1, $2, w.ids, w.users, w.received, w.read) r
        """
    }
}

extension HistoryPage.Owner {
    /// `device`, or `user`.
    var kind: String {
        switch self {
        case .device: "device"
        case .user: "user"
        }
    }

    /// Who is named.
    var user: UserID? {
        switch self {
        case .device: nil
        case .user(let named): named
        }
    }
}

extension MessageID {
    /// The least id of the millisecond after `moment`: the ids below it are of messages that are due by then.
    static func first(after moment: Timestamp) -> MessageID? { first(at: moment + .milliseconds(1)) }
}

extension InboxEntry {
    /// What every statement of an inbox tells of an entry.
    static func read(_ row: Row) throws(PostgresError) -> InboxEntry {
        InboxEntry(
            notification: try NotificationRow.read(row),
            sender: try row.optionalID("sender_id"),
            user: try row.optionalID("user_id"),
            receivedAt: try row.optionalTime("received_at"),
            readAt: try row.optionalTime("read_at")
        )
    }

    /// The same of what is only looked at, of which more is told.
    static func readLooked(_ row: Row) throws(PostgresError) -> InboxEntry {
        var entry = try read(row)
        entry.wasSent = try row.bool("was_sent")
        entry.variables = try row.object("variables")
        entry.name = try row.optionalText("name")
        return entry
    }
}
