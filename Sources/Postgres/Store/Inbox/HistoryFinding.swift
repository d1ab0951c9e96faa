import Model
import PostgresClient

/// The parameters of `find_history`, for a page that does not count as received.
struct HistoryFinding: Sendable {
    var scope: AppScope
    var caller: DeviceCaller
    var page: HistoryPage
    var look: HistoryLook
    var at: Timestamp
    /// Whether messages of the user from before the caller had it are shown.
    var isWhole: Bool

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
        p["p_whole"] = { .bool($1.isWhole) }
    }

    /// Selects the entries of a call with their content. The first two parameters of the call are tenant and app, the next four the caller.
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
    /// The owner of the history: `device` or `user`.
    var kind: String {
        switch self {
        case .device: "device"
        case .user: "user"
        }
    }

    /// The user that the caller names.
    var user: UserID? {
        switch self {
        case .device: nil
        case .user(let named): named
        }
    }
}

extension MessageID {
    /// The smallest id of the millisecond after `moment`: all smaller ids belong to messages that are due by then.
    static func first(after moment: Timestamp) -> MessageID? { first(at: moment + .milliseconds(1)) }
}

extension InboxEntry {
    /// Reads the columns that every statement of an inbox returns for an entry.
    static func read(_ row: Row) throws(PostgresError) -> InboxEntry {
        InboxEntry(
            notification: try NotificationRow.read(row),
            sender: try row.optionalID("sender_id"),
            user: try row.optionalID("user_id"),
            receivedAt: try row.optionalTime("received_at"),
            readAt: try row.optionalTime("read_at")
        )
    }

    /// Reads an entry of a page that does not count as received, which has more columns.
    static func readLooked(_ row: Row) throws(PostgresError) -> InboxEntry {
        var entry = try read(row)
        entry.wasSent = try row.bool("was_sent")
        entry.variables = try row.object("variables")
        entry.name = try row.optionalText("name")
        return entry
    }
}
