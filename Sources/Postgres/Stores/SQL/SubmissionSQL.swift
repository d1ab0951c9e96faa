/// What a submission needs to know, and its acceptance.
enum SubmissionSQL {
    static let app = StoreSQL.tenant(
        """
        SELECT a.platforms::text AS platforms,
            (SELECT coalesce(sum(c.active), 0)::bigint FROM gateway.identity_count c
                WHERE c.tenant_id = $1 AND c.app_id = $2 AND ($3 = 'native' OR c.vendor = $3)) AS identities
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
        SELECT q.place, r.identity_id, r.device_id, r.is_reachable FROM unnest(\(lists)) AS q(place, value)
        CROSS JOIN LATERAL (
            SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable
            FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
            WHERE i.tenant_id = $1 AND i.app_id = $2 AND ($3 = 'native' OR i.vendor = $3) AND i.state = 'active'
                AND \(condition)
            ORDER BY i.registered_at DESC, i.identity_id DESC LIMIT 1) AS r
        """
    }

    /// Both limits without an order, so that a user with a million devices is not read to the end. The planner cannot know how many each has.
    static let resolveUsers = StoreSQL.tenant(
        """
        SELECT q.place, q.value AS user_id, r.identity_id, r.device_id, r.is_reachable
        FROM unnest($4::text[]) WITH ORDINALITY AS q(value, place)
        CROSS JOIN LATERAL (
            SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable
            FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
            WHERE i.tenant_id = $1 AND i.app_id = $2 AND ($3 = 'native' OR i.vendor = $3) AND i.state = 'active'
                AND i.user_id = q.value
            LIMIT $5) AS r
        LIMIT $5
        """
    )

    static let accept = StoreSQL.function("accept_message", 32)
    /// With its event: `$5` is what is done.
    static let control = StoreSQL.function(
        "control_message",
        5,
        columns: "control_message AS count, gateway.note_controlled($1, $4, $5, control_message)"
    )

    static let all = [app, resolve, resolveUsers, accept, control]
}
