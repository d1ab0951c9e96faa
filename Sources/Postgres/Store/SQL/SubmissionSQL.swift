/// What a submission needs to know, and its acceptance.
enum SubmissionSQL {
    static let app = StoreSQL.tenant(
        """
        SELECT a.platforms::text AS platforms, a.defaults::text AS defaults,
            (SELECT coalesce(sum(c.active), 0)::bigint FROM gateway.identity_count c
                WHERE c.tenant_id = $1 AND c.app_id = $2 AND ($3 = 'native' OR c.vendor = $3)) AS identities,
            (SELECT coalesce(array_agg(DISTINCT c.vendor), '{}') FROM gateway.identity_count c
                WHERE c.tenant_id = $1 AND c.app_id = $2) AS dialects
        FROM gateway.app a WHERE a.tenant_id = $1 AND a.app_id = $2 AND a.retired_at IS NULL
        """
    )

    /// Four lists of places and values: phones, device keys, users, devices. The native dialect reaches all others.
    static let resolve = StoreSQL.tenant(
        branch("$4::bigint[], $5::text[]", "i.phone = q.value") + "\nUNION ALL\n"
            + branch("$6::bigint[], $7::text[]", "i.key = q.value") + "\nUNION ALL\n"
            + branch("$8::bigint[], $9::text[]", "i.user_id = q.value") + "\nUNION ALL\n"
            + branch("$10::bigint[], $11::uuid[]", "i.device_id = q.value")
    )

    private static func branch(_ lists: String, _ condition: String) -> String {
        """
        SELECT q.place, r.* FROM unnest(\(lists)) AS q(place, value)
        CROSS JOIN LATERAL (\(newest(condition))) AS r
        """
    }

    /// One address: without a list the plan is made once, and not at each call.
    static let resolvePhone = StoreSQL.tenant(one("i.phone = $4"))
    static let resolveKey = StoreSQL.tenant(one("i.key = $4"))
    static let resolveUser = StoreSQL.tenant(one("i.user_id = $4"))
    static let resolveDevice = StoreSQL.tenant(one("i.device_id = $4"))

    private static func one(_ condition: String) -> String {
        "SELECT 0::bigint AS place, r.* FROM (\(newest(condition))) AS r"
    }

    private static func newest(_ condition: String) -> String {
        """
        SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable,
            \(StoreSQL.clockColumns)
        FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
        WHERE i.tenant_id = $1 AND i.app_id = $2 AND ($3 = 'native' OR i.vendor = $3) AND i.state = 'active'
            AND \(condition)
        ORDER BY i.registered_at DESC, i.identity_id DESC LIMIT 1
        """
    }

    /// Both limits without an order, so that a user with a million devices is not read to the end. The planner cannot know how many each has.
    static let resolveUsers = StoreSQL.tenant(
        """
        SELECT q.place, q.value AS user_id, r.* FROM unnest($4::text[]) WITH ORDINALITY AS q(value, place)
        CROSS JOIN LATERAL (
            SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable,
                \(StoreSQL.clockColumns)
            FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
            WHERE i.tenant_id = $1 AND i.app_id = $2 AND ($3 = 'native' OR i.vendor = $3) AND i.state = 'active'
                AND i.user_id = q.value
            LIMIT $5) AS r
        LIMIT $5
        """
    )

    /// By alias where somebody has it, else by the user's own id.
    static let resolveAliases = StoreSQL.tenant(
        """
        SELECT q.place, q.value AS user_id, r.* FROM unnest($4::text[]) WITH ORDINALITY AS q(value, place)
        CROSS JOIN LATERAL (
            SELECT EXISTS (
                SELECT FROM gateway.identity i
                WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.alias = q.value
                    OR i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.user_id = q.value
                    AND i.alias IS NULL) AS is_alias) AS a
        CROSS JOIN LATERAL (
            (SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable,
                \(StoreSQL.clockColumns)
            FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
            WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.alias = q.value
            LIMIT $5)
            UNION ALL
            (SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable,
                \(StoreSQL.clockColumns)
            FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
            WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.user_id = q.value
                AND (i.alias IS NULL OR i.alias <> q.value AND NOT a.is_alias)
            LIMIT $5)) AS r
        LIMIT $5
        """
    )

    static let accept = StoreSQL.function("accept_message", 34)
    /// With its event, and its row of the audit when `$6` names somebody. `$5` is what is done.
    static let control = StoreSQL.tenant(
        """
        SELECT control_message AS count, gateway.note_controlled($1, $4, $5, control_message),
            CASE WHEN control_message > 0 AND $6::text IS NOT NULL THEN
                gateway.write_audit($1, $6, ARRAY[$7::text], ARRAY['message ' || $4::uuid], ARRAY[NULL]::text[])
            END AS audited
        FROM gateway.control_message($1, $2, $3, $4, $5)
        """
    )

    /// A message with its settled deliveries by outcome: one row each, and one where there are none. One partition only.
    static let report = StoreSQL.tenant(
        """
        SELECT m.message_id, m.state, m.content, m.accepted_at, t.outcome, t.reason, t.count, t.first_at, t.last_at
        FROM gateway.message m
        LEFT JOIN LATERAL (
            SELECT d.state AS outcome, d.reason, count(*) AS count, min(d.sent_at) AS first_at, max(d.sent_at) AS last_at
            FROM gateway.delivery d
            WHERE d.tenant_id = $1 AND d.due_day = m.due_day AND d.message_id = m.message_id
            GROUP BY d.state, d.reason) t ON true
        WHERE m.tenant_id = $1 AND m.message_id = $2 AND m.app_id = $3 AND m.vendor = $4
        ORDER BY t.outcome, t.reason NULLS FIRST
        """
    )

    static let all = [
        report,
        app, resolve, resolvePhone, resolveKey, resolveUser, resolveDevice, resolveUsers, resolveAliases,
        accept, control,
    ]
}
