/// Users as back ends describe them.
enum UserSQL {
    static let put = StoreSQL.function("keep_users", 22, columns: "keep_users AS is_repeat")
    static let erase = StoreSQL.function("erase_users", 5, columns: "erase_users AS count")

    /// Parallel arrays: an id, or label and name of an alias. Revision 0: known by a device only.
    static let profiles = StoreSQL.tenant(
        """
        SELECT q.place, w.user_id, coalesce(p.is_anonymous, false) AS is_anonymous,
            p.accepts_push, coalesce(p.opted_in, false) AS opted_in, p.attributes, p.consents, coalesce(p.revision, 0) AS revision
        FROM unnest($4::text[], $5::text[], $6::text[]) WITH ORDINALITY AS q(user_id, label, name, place)
        LEFT JOIN LATERAL (
            SELECT x.user_id FROM gateway.user_alias x
            WHERE x.tenant_id = $1 AND x.app_id = $2 AND x.vendor = $3 AND x.label = q.label AND x.name = q.name OFFSET 0) AS a ON true
        CROSS JOIN LATERAL (SELECT coalesce(a.user_id, q.user_id) AS user_id OFFSET 0) AS w
        LEFT JOIN LATERAL (
            SELECT x.* FROM gateway.user_profile x
            WHERE x.tenant_id = $1 AND x.app_id = $2 AND x.vendor = $3 AND x.user_id = w.user_id OFFSET 0) AS p ON true
        LEFT JOIN LATERAL (
            SELECT x.user_id FROM gateway.identity x
            WHERE x.tenant_id = $1 AND x.app_id = $2 AND x.vendor = $3 AND x.user_id = q.user_id AND x.state = 'active'
                AND p.user_id IS NULL LIMIT 1) AS i ON true
        WHERE p.user_id IS NOT NULL OR i.user_id IS NOT NULL
        """
    )

    /// Those that an active identity has.
    static let knownTokens = StoreSQL.tenant(
        """
        SELECT q.token FROM unnest($4::text[]) AS q(token)
        CROSS JOIN LATERAL (
            SELECT FROM gateway.device d JOIN gateway.identity i ON i.tenant_id = $1 AND i.device_id = d.device_id
            WHERE d.tenant_id = $1 AND d.app_id = $2 AND d.platform IN ('ios', 'android') AND d.token_digest = md5(q.token)
                AND d.token = q.token AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active'
                AND (i.ends_at IS NULL OR i.ends_at > now()) LIMIT 1) AS r
        """
    )

    static let aliases = StoreSQL.tenant(
        """
        SELECT a.user_id, a.label, a.name FROM gateway.user_alias a
        WHERE a.tenant_id = $1 AND a.app_id = $2 AND a.vendor = $3 AND a.user_id = ANY ($4)
        ORDER BY a.user_id, a.label, a.name LIMIT $5
        """
    )

    /// The latest of each user, `$5` at most.
    static let tallies = StoreSQL.tenant(
        """
        SELECT t.user_id, t.kind, t.name, t.count, t.first_at, t.last_at FROM unnest($4::text[]) AS q(user_id)
        CROSS JOIN LATERAL (
            SELECT t.* FROM gateway.user_tally t
            WHERE t.tenant_id = $1 AND t.app_id = $2 AND t.vendor = $3 AND t.user_id = q.user_id
            ORDER BY t.last_at DESC, t.kind, t.name LIMIT $5) AS t
        ORDER BY t.user_id, t.kind, t.name
        """
    )

    /// The active ones, `$5` at most of each user.
    static let devices = StoreSQL.tenant(
        """
        SELECT r.* FROM unnest($4::text[]) AS q(user_id)
        CROSS JOIN LATERAL (
            SELECT i.user_id, i.key, d.platform, i.attributes,
                i.accepts_push AND i.denies_push IS NOT TRUE AS accepts_push,
                CASE WHEN d.token_state = 'active' THEN d.token END AS token
            FROM gateway.identity i JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
            WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.user_id = q.user_id AND i.state = 'active'
            ORDER BY i.key LIMIT $5) AS r
        ORDER BY r.user_id, r.key
        """
    )

    /// What was sent of the newest `$5` of each user, by the members `$6` of the messages' data: all of that may be a megabyte.
    static let messages = StoreSQL.tenant(
        """
        SELECT q.user_id, r.data, max(r.sent_at) AS last_at, bool_or(r.is_read) AS is_read
        FROM unnest($4::text[]) AS q(user_id)
        CROSS JOIN LATERAL (
            SELECT d.sent_at, d.read_at IS NOT NULL AS is_read, (
                SELECT json_object_agg(n.name, m.content->'data'->n.name ORDER BY n.place)::text
                FROM unnest($6::text[]) WITH ORDINALITY AS n(name, place)
                WHERE m.content->'data'->n.name IS NOT NULL) AS data
            FROM gateway.delivery d JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = d.message_id
            WHERE d.tenant_id = $1 AND d.app_id = $2 AND d.user_id = q.user_id AND d.state IN ('sent', 'received', 'read')
                AND d.sent_at IS NOT NULL AND m.vendor = $3
            ORDER BY d.message_id DESC LIMIT $5) AS r
        WHERE r.data IS NOT NULL
        GROUP BY q.user_id, r.data
        ORDER BY q.user_id, last_at DESC, r.data
        """
    )

    /// As `SubmissionSQL.resolveUsers`; a name that begins with U+001F is an alias.
    static let resolveNames = StoreSQL.tenant(
        """
        SELECT q.place, q.value AS user_id, r.* FROM unnest($4::text[]) WITH ORDINALITY AS q(value, place)
        LEFT JOIN LATERAL (
            SELECT x.user_id FROM gateway.user_alias x
            WHERE x.tenant_id = $1 AND x.app_id = $2 AND x.vendor = $3 AND left(q.value, 1) = chr(31)
                AND x.label = split_part(q.value, chr(31), 2) AND x.name = split_part(q.value, chr(31), 3) LIMIT 1) AS a ON true
        CROSS JOIN LATERAL (SELECT coalesce(a.user_id, q.value) AS user_id OFFSET 0) AS w
        CROSS JOIN LATERAL (
            SELECT i.identity_id, i.device_id, coalesce(d.token_state = 'active', false) AS is_reachable,
                \(StoreSQL.clockColumns)
            FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
            WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.user_id = w.user_id
            LIMIT $5) AS r
        LIMIT $5
        """
    )

    /// Those of the targets whose users asked for pushes.
    static let optedIn = StoreSQL.tenant(
        """
        SELECT t.place FROM unnest($2::bigint[], $3::uuid[]) AS t(place, target)
        JOIN gateway.identity i ON i.tenant_id = $1 AND i.identity_id = t.target
        JOIN gateway.user_profile p
            ON p.tenant_id = $1 AND p.app_id = i.app_id AND p.vendor = i.vendor AND p.user_id = i.user_id
        WHERE p.opted_in
        """
    )

    /// What is older than the retention, 10,000 at most: a long transaction holds back vacuum.
    static let dropActs = StoreSQL.tenant(
        """
        DELETE FROM gateway.user_act WHERE tenant_id = $1 AND (app_id, vendor, user_id, digest) IN (
            SELECT a.app_id, a.vendor, a.user_id, a.digest FROM gateway.user_act a
            WHERE a.tenant_id = $1 AND a.noted_at < now() - $2::interval ORDER BY a.noted_at LIMIT 10000)
        """
    )

    static let dropTallies = StoreSQL.tenant(
        """
        DELETE FROM gateway.user_tally WHERE tenant_id = $1 AND (app_id, vendor, user_id, kind, name) IN (
            SELECT t.app_id, t.vendor, t.user_id, t.kind, t.name FROM gateway.user_tally t
            WHERE t.tenant_id = $1 AND t.noted_at < now() - $2::interval ORDER BY t.noted_at LIMIT 10000)
        """
    )

    static let all = [
        put, erase, profiles, knownTokens, aliases, tallies, devices, messages, resolveNames, optedIn, dropActs,
        dropTallies,
    ]
}
