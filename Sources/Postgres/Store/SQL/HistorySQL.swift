/// Histories, what is not received, preferences, and the numbers of messages.
enum HistorySQL {
    static let page = StoreSQL.function("history_page", 13)
    static let message = StoreSQL.function("history_message", 6)
    static let poll = StoreSQL.function("poll_inbox", 9)
    static let report = StoreSQL.function("report_number", 9, columns: "report_number AS outcome")
    /// The same for many, as a `Fold` puts it.
    static let reports = StoreSQL.function("report_numbers", 8, columns: "ordinal, outcome")
    static let setPreferences = StoreSQL.function("set_preferences", 10, columns: "set_preferences AS count")
    /// The same for many, as a `Fold` puts it: whether they accept pushes, and nothing else.
    static let setManyPreferences = StoreSQL.function("set_many_preferences", 5, columns: "count, ordinal")
    static let number = StoreSQL.function("number_message", 6, columns: "number_message AS count")
    static let open = StoreSQL.function("open_inbox", 3, columns: "open_inbox AS count")

    /// `$6`: only what is due by now. Not counted beyond `$7`.
    static let unreceived = StoreSQL.tenant(
        """
        SELECT count(*) AS count FROM (
            SELECT FROM gateway.calling_identity($1, $2, $3, $4, $5) i
            JOIN gateway.inbox_open o ON o.tenant_id = $1 AND o.identity_id = i.identity_id
            WHERE o.message_id < $6 LIMIT $7) x
        """
    )

    static let preferences = StoreSQL.tenant(
        """
        SELECT i.accepts_push, i.user_id, i.alias, \(StoreSQL.clockColumns)
        FROM gateway.reading_identity($1, $2, $3, $4, $5, $6) i
        LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
        WHERE i.identity_id IS NOT NULL
        """
    )

    /// The same for many by their keys, as a `Fold` puts it.
    static let manyPreferences = StoreSQL.tenant(
        """
        SELECT i.accepts_push, CASE WHEN i.identity_id IS NOT NULL THEN u.o END AS ordinal, i.user_id, i.alias, \(StoreSQL.clockColumns)
        FROM unnest($4::text[]) WITH ORDINALITY AS u(key, o)
        LEFT JOIN LATERAL (
            SELECT x.identity_id, x.device_id, x.accepts_push, x.user_id, x.alias FROM gateway.identity x
            WHERE x.tenant_id = $1 AND x.app_id = $2 AND x.vendor = $3 AND x.key = u.key AND x.state = 'active' OFFSET 0) i ON true
        LEFT JOIN LATERAL (
            SELECT y.time_zone, y.window_from, y.window_to FROM gateway.device y
            WHERE y.tenant_id = $1 AND y.device_id = i.device_id OFFSET 0) d ON true
        ORDER BY u.o
        """
    )

    /// The first number of this second or, when it is used up, of the next. One row is changed by whoever draws, so it is left at once.
    static let drawNumbers = StoreSQL.tenant(
        """
        INSERT INTO gateway.message_number AS n (tenant_id, app_id, vendor, last)
        VALUES ($1, $2, $3, floor(extract(epoch FROM now()))::bigint * 10000 + $4::bigint - 1)
        ON CONFLICT (tenant_id, app_id, vendor) DO UPDATE SET last = greatest(n.last + $4::bigint, excluded.last)
        RETURNING last
        """
    )

    static let numbers = StoreSQL.tenant(
        "SELECT \(StoreSQL.numbersColumn) FROM gateway.message m WHERE m.tenant_id = $1 AND m.message_id = $2"
    )

    /// A page that is only looked at.
    static let look = StoreSQL.tenant(read(from: "find_history", 15))
    /// One message of a user.
    static let userMessage = StoreSQL.tenant(read(from: "find_message", 9))
    static let unread = StoreSQL.function("find_history", 15, columns: "count(*) AS count")

    /// What `function` finds, whose first two parameters are tenant and app and the next four the caller, with its content.
    private static func read(from function: String, _ count: Int) -> String {
        let places = (1...count).map { "$\($0)" }.joined(separator: ", ")
        return """
            SELECT r.*, i.name FROM (
                SELECT array_agg(f.message_id) AS ids, array_agg(f.user_id) AS users, array_agg(f.received_at) AS received,
                    array_agg(f.read_at) AS read
                FROM gateway.\(function)(\(places)) f) w
            CROSS JOIN gateway.reading_identity($1, $2, $3, $4, $5, $6) i
            CROSS JOIN LATERAL gateway.read_messages($1, $2, w.ids, w.users, w.received, w.read) r
            """
    }

    static let all = [
        look, userMessage, unread,
        page, message, poll, report, reports, setPreferences, setManyPreferences, manyPreferences, number, open,
        unreceived, preferences, drawNumbers,
        numbers,
    ]
}
