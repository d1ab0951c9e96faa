/// Messages and groups that a vendor numbers, their recipients, and what is stored beside them.
enum NumberSQL {
    static let sequenceMessage = StoreSQL.function("sequence_message", 4, columns: "sequence_message AS number")
    static let createGroup = StoreSQL.function("create_group", 4, columns: "create_group AS name")

    static let titledGroups = StoreSQL.tenant(
        """
        SELECT g.group_name, coalesce(g.title, '') AS title FROM gateway.user_group g
        WHERE g.tenant_id = $1 AND g.app_id = $2 AND g.vendor = $3 AND ($4::text IS NULL OR g.group_name = $4)
        ORDER BY length(g.group_name), g.group_name LIMIT $5
        """
    )

    /// One row without a user where the group has no such member.
    static let members = StoreSQL.tenant(
        """
        SELECT g.group_name, coalesce(g.title, '') AS title, m.user_id,
            (SELECT i.name FROM gateway.identity i
                WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.user_id = m.user_id AND i.state = 'active'
                ORDER BY i.registered_at DESC LIMIT 1) AS name
        FROM gateway.user_group g
        LEFT JOIN gateway.group_member m ON m.tenant_id = $1 AND m.app_id = $2 AND m.vendor = $3
            AND m.group_name = g.group_name AND ($5::text IS NULL OR m.user_id = $5)
        WHERE g.tenant_id = $1 AND g.app_id = $2 AND g.vendor = $3 AND g.group_name = $4
        ORDER BY m.user_id LIMIT $6
        """
    )

    private static let columns = """
        i.identity_id, i.key, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable, \
        \(StoreSQL.clockColumns)
        """

    /// As `SubmissionSQL.resolveUsers`; `$6` the tokens that count, or null.
    static let recipients = StoreSQL.tenant(
        """
        SELECT q.place, q.value AS user_id, r.* FROM unnest($4::text[]) WITH ORDINALITY AS q(value, place)
        CROSS JOIN LATERAL (
            SELECT \(columns)
            FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
            WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.user_id = q.value
                AND ($6::text[] IS NULL OR d.token = ANY ($6))
            LIMIT $5) AS r
        LIMIT $5
        """
    )

    static let bearers = StoreSQL.tenant(
        """
        SELECT q.place, i.user_id, \(columns)
        FROM unnest($4::text[]) WITH ORDINALITY AS q(value, place)
        CROSS JOIN LATERAL (
            SELECT x.* FROM gateway.device x
            WHERE x.tenant_id = $1 AND x.app_id = $2 AND x.platform IN ('ios', 'android') AND x.token_digest = md5(q.value)
                AND x.token = q.value OFFSET 0) AS d
        JOIN gateway.identity i ON i.tenant_id = $1 AND i.device_id = d.device_id AND i.app_id = $2 AND i.vendor = $3
            AND i.state = 'active'
        LIMIT $5
        """
    )

    /// Of the bearers those whose user is in one of the groups `$6`.
    static let groupBearers = StoreSQL.tenant(
        """
        SELECT q.place, i.user_id, \(columns)
        FROM unnest($4::text[]) WITH ORDINALITY AS q(value, place)
        CROSS JOIN LATERAL (
            SELECT x.* FROM gateway.device x
            WHERE x.tenant_id = $1 AND x.app_id = $2 AND x.platform IN ('ios', 'android') AND x.token_digest = md5(q.value)
                AND x.token = q.value OFFSET 0) AS d
        JOIN gateway.identity i ON i.tenant_id = $1 AND i.device_id = d.device_id AND i.app_id = $2 AND i.vendor = $3
            AND i.state = 'active'
        WHERE EXISTS (
            SELECT FROM gateway.group_member m
            WHERE m.tenant_id = $1 AND m.app_id = $2 AND m.vendor = $3 AND m.group_name = ANY ($6) AND m.user_id = i.user_id)
        LIMIT $5
        """
    )

    static let putVariables = StoreSQL.tenant(
        """
        INSERT INTO gateway.message_variable (tenant_id, message_id, user_id, variables)
        SELECT $1, $2, u.id, u.variables::json FROM unnest($3::text[], $4::text[]) AS u(id, variables)
        ON CONFLICT DO NOTHING
        """
    )

    /// What fills a template: what the message brings for a user, and what is kept of it.
    static let variables = StoreSQL.tenant(
        """
        SELECT t.place, v.variables, p.attributes FROM unnest($3::bigint[], $4::uuid[]) AS t(place, target)
        JOIN gateway.identity i ON i.tenant_id = $1 AND i.identity_id = t.target
        LEFT JOIN gateway.message_variable v ON v.tenant_id = $1 AND v.message_id = $2 AND v.user_id = i.user_id
        LEFT JOIN gateway.user_profile p
            ON p.tenant_id = $1 AND p.app_id = i.app_id AND p.vendor = i.vendor AND p.user_id = i.user_id
        WHERE v.user_id IS NOT NULL OR p.user_id IS NOT NULL
        """
    )

    static let putPage = StoreSQL.tenant(
        """
        INSERT INTO gateway.page (tenant_id, page_id, message_id, name, body, expires_at) VALUES ($1, $2, $3, $4, $5, $6)
        """
    )

    static let setPace = StoreSQL.tenant(
        "UPDATE gateway.message SET pace_count = $3, pace_seconds = $4 WHERE tenant_id = $1 AND message_id = $2"
    )

    /// Before its tenant is known.
    static let page = StoreSQL.global("SELECT * FROM gateway.resolve_page($1)")

    static let all = [
        sequenceMessage, createGroup, titledGroups, members, recipients, bearers, groupBearers, putVariables, variables,
        putPage,
        setPace, page,
    ]
}
