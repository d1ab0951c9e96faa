import PostgresClient
import Store

/// The queue, outcomes, tokens and nodes, for the delivery engine.
enum DeliverySQL {
    /// The tenants with due work, as a hint: over all tenants, without locks. Slices that are leased from the start never enter this index.
    static let due = StoreSQL.global(discovery("= 'ready'"))

    /// As `due`, and the tenants with slices whose lease has expired.
    static let dueOrLapsed = StoreSQL.global(discovery("IN ('ready', 'leased')"))

    private static func discovery(_ state: String) -> String {
        """
        SELECT l.tenant_id, x.next_at FROM gateway.lane l
        CROSS JOIN LATERAL (
            SELECT s.next_at FROM gateway.slice s
            WHERE s.tenant_id = l.tenant_id AND s.lane = l.lane AND s.state \(state) AND s.next_at <= now()
            ORDER BY s.next_at LIMIT 1) x
        WHERE l.lane = $1 AND NOT l.is_paused ORDER BY x.next_at LIMIT $2
        """
    }

    static let claim = StoreSQL.tenant(
        """
        WITH r AS (
            SELECT message_id, no, false AS has_lapsed FROM gateway.slice
            WHERE tenant_id = $1 AND lane = $2 AND state = 'ready' AND next_at <= now()
            ORDER BY next_at LIMIT $3 FOR UPDATE SKIP LOCKED),
        l AS (
            SELECT message_id, no, true AS has_lapsed FROM gateway.slice
            WHERE tenant_id = $1 AND lane = $2 AND state = 'leased' AND next_at <= now() AND $6
            ORDER BY next_at LIMIT $3 - (SELECT count(*) FROM r) FOR UPDATE SKIP LOCKED),
        c AS (SELECT * FROM r UNION ALL SELECT * FROM l)
        UPDATE gateway.slice s SET state = 'leased', owner = $4, epoch = s.epoch + 1, held_by = NULL,
            next_at = now() + $5::interval, lapses = least(s.lapses + (s.state = 'leased')::integer, 32767)
        FROM c WHERE s.tenant_id = $1 AND s.message_id = c.message_id AND s.no = c.no
        RETURNING s.message_id, s.no, s.epoch, s.lane, s.due_day, s.kind, s.after, s.targets, s.addresses, s.done, s.attempts,
            s.lapses, c.has_lapsed
        """
    )

    /// The slices that the owner `$5` holds under these epochs, locked in the order of their keys: a command that pauses or cancels a message locks slices too.
    private static let held = """
        SELECT x.message_id, x.no FROM unnest($2::uuid[], $3::integer[], $4::bigint[]) AS u(message_id, no, epoch)
            JOIN gateway.slice x ON x.tenant_id = $1 AND x.message_id = u.message_id AND x.no = u.no
            WHERE x.epoch = u.epoch AND x.owner = $5 AND x.state = 'leased'
            ORDER BY x.message_id, x.no FOR NO KEY UPDATE OF x
        """

    static let renew = StoreSQL.tenant(
        """
        UPDATE gateway.slice s SET next_at = now() + $6::interval
        FROM (\(held)) AS k
        WHERE s.tenant_id = $1 AND s.message_id = k.message_id AND s.no = k.no
        RETURNING s.message_id, s.no
        """
    )

    /// Increments the epoch, so that an outcome of the released lease is refused. Its owner works, so that the count of lapses starts at zero. A lease that
    /// lapsed may have pushed, which counts as an attempt. A slice of which nothing was tried gets the rules of its next lease, as in `return_route`.
    static let release = StoreSQL.tenant(
        """
        UPDATE gateway.slice s SET state = 'ready', owner = NULL, epoch = s.epoch + 1, next_at = now(), lapses = 0,
            attempts = CASE WHEN s.lapses > 0 AND s.kind = 'deliver' THEN least(s.attempts + 1, 32767) ELSE s.attempts END,
            route_version = CASE WHEN s.attempts > 0 OR s.lapses > 0 OR bit_count(s.done) > 0 OR s.route_version IS NOT NULL AND (EXISTS (
                SELECT FROM gateway.upstream_call c
                WHERE c.tenant_id = $1 AND c.message_id = s.message_id AND c.slice_no = s.no)
                OR NOT EXISTS (
                    SELECT FROM gateway.message m
                    JOIN gateway.route_set r ON r.tenant_id = $1 AND r.app_id = m.app_id
                        AND date_trunc('milliseconds', r.made_at) <= m.accepted_at
                    WHERE m.tenant_id = $1 AND m.message_id = s.message_id)) THEN s.route_version END
        FROM (\(held)) AS k
        WHERE s.tenant_id = $1 AND s.message_id = k.message_id AND s.no = k.no
        """
    )

    static let message = StoreSQL.tenant(
        """
        SELECT \(StoreSQL.messageColumns), m.state, m.lane, m.fallback, a.platforms::text AS platforms,
            a.defaults::text AS defaults, a.shares_devices, a.route_version IS NOT NULL OR a.retired_at IS NOT NULL AS is_routed,
            m.duplicate_of IS NOT NULL AS is_duplicate
        FROM gateway.message m JOIN gateway.app a ON a.tenant_id = $1 AND a.app_id = m.app_id
        WHERE m.tenant_id = $1 AND m.message_id = $2
        """
    )

    static let settings = StoreSQL.tenant(
        """
        SELECT b.vendor, b.app_id, b.settings FROM gateway.message m
        JOIN gateway.binding b ON b.tenant_id = $1 AND b.app_id = m.app_id
        WHERE m.tenant_id = $1 AND m.message_id = $2
        """
    )

    static let targets = StoreSQL.tenant(
        """
        SELECT t.place, \(StoreSQL.targetColumns)
        FROM unnest($2::bigint[], $3::uuid[]) AS t(place, target)
        JOIN gateway.identity i ON i.tenant_id = $1 AND i.identity_id = t.target
        LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
        """
    )

    /// For a single target: without a list, the server can reuse one plan instead of planning each call.
    static let target = StoreSQL.tenant(
        """
        SELECT $2::bigint AS place, \(StoreSQL.targetColumns)
        FROM gateway.identity i
        LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
        WHERE i.tenant_id = $1 AND i.identity_id = $3
        """
    )

    /// Targets that are variants of an identity, with the properties of the identity. Only for messages to variants.
    static let variants = StoreSQL.tenant(
        """
        SELECT t.place, v.name AS variant, i.attributes::text AS attributes, \(StoreSQL.targetColumns)
        FROM unnest($2::bigint[], $3::uuid[]) AS t(place, target)
        JOIN gateway.variant v ON v.tenant_id = $1 AND v.target_id = t.target
        JOIN gateway.identity i ON i.tenant_id = $1 AND i.identity_id = v.identity_id
        LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
        """
    )

    /// Tokens of a Live Activity, by the place of the device in the slice.
    static let activityTokens = StoreSQL.tenant(
        """
        SELECT t.place, a.token, a.registered_at FROM unnest($2::bigint[], $3::uuid[]) AS t(place, device)
        JOIN gateway.activity_token a
            ON a.tenant_id = $1 AND a.device_id = t.device AND a.kind = $4 AND a.name = $5
        """
    )

    /// Indexes of targets whose device was already notified by another target of the message. `$4` is the message, `$5` its due day.
    static let duplicates = StoreSQL.tenant(
        """
        SELECT DISTINCT t.place FROM unnest($2::bigint[], $3::uuid[]) AS t(place, target)
        JOIN gateway.identity i ON i.tenant_id = $1 AND i.identity_id = t.target
        JOIN gateway.delivery d ON d.tenant_id = $1 AND d.device_id = i.device_id AND d.message_id = $4
            AND d.due_day = $5 AND d.target_id <> t.target AND d.state IN ('sent', 'received', 'read')
        """
    )

    /// Indexes of targets of an audience whose device was already notified, by the target itself in an earlier slice or by another identity of the device. A
    /// target without an outcome has no delivery, or one that only has receipts, so a retry does not find its own. Look-ups by keys, because a message to an
    /// audience has many deliveries. `$4` is the message, `$5` its due day.
    static let repeated = StoreSQL.tenant(
        """
        SELECT t.place FROM unnest($2::bigint[], $3::uuid[]) AS t(place, target)
        CROSS JOIN LATERAL (
            SELECT i.device_id FROM gateway.identity i WHERE i.tenant_id = $1 AND i.identity_id = t.target OFFSET 0) AS i
        CROSS JOIN LATERAL (
            SELECT s.identity_id FROM gateway.identity s
            WHERE s.tenant_id = $1 AND s.device_id = i.device_id OFFSET 0) AS s
        CROSS JOIN LATERAL (
            SELECT d.sent_at FROM gateway.delivery d
            WHERE d.tenant_id = $1 AND d.due_day = $5 AND d.message_id = $4 AND d.target_id = s.identity_id
                AND d.state IN ('sent', 'received', 'read') OFFSET 0) AS d
        WHERE s.identity_id <> t.target OR d.sent_at IS NOT NULL
        """
    )

    /// Indexes of devices that were sent `$7` messages of the app `$4` within `$6`. Only messages that were due since the day `$5` count: without that limit,
    /// every partition would be read.
    static let capped = StoreSQL.tenant(
        """
        SELECT t.place FROM unnest($2::bigint[], $3::uuid[]) AS t(place, device)
        CROSS JOIN LATERAL (
            SELECT count(*) AS sent FROM (
                \(StoreSQL.sentWithin("$6", to: "t.device", of: "$4", since: "$5", limit: "$7"))) AS x) AS n
        WHERE n.sent >= $7
        """
    )

    /// The rules of the slice. Only for apps that have or had some.
    static let route = StoreSQL.function("route_slice", 5)

    /// The rules of the app that are in force now, whatever the slice had before. For tests.
    static let currentRoute = StoreSQL.tenant(
        """
        SELECT 'rules' AS outcome, r.version, r.format, r.base::text AS base_rules, r.overlay::text AS overlay_rules, r.upstreams::text AS upstreams
        FROM gateway.message m
        JOIN gateway.app a ON a.tenant_id = $1 AND a.app_id = m.app_id
        JOIN gateway.route_set r ON r.tenant_id = $1 AND r.app_id = a.app_id AND r.version = a.route_version
        WHERE m.tenant_id = $1 AND m.message_id = $2
        """
    )

    /// The facts about earlier messages with the same text for the targets of the slice. Only for duplicates.
    static let guardSlice = StoreSQL.function("guard_slice", 8)

    /// The message with the same text that a device was sent before.
    static let sentBefore = StoreSQL.function("sent_before", 4, columns: "sent_before AS earlier")

    /// Calls to upstreams of the slice that have no end: a node ended while they were in flight.
    static let interrupted = StoreSQL.tenant(
        """
        SELECT c.epoch, c.no, c.upstream, c.targets FROM gateway.upstream_call c
        WHERE c.tenant_id = $1 AND c.message_id = $2 AND c.slice_no = $3 AND c.state = 'calling'
        """
    )

    /// The upstreams that calls of the message have asked to reach users. It reads one row for each of them, because a message may have very many users.
    static let callers = StoreSQL.tenant("SELECT upstream FROM gateway.called_upstreams($1, $2)")

    /// Which of these users calls of the message have. The key is that of `begin_upstream_call`.
    static let called = StoreSQL.tenant(
        """
        SELECT t.place, bool_or(c.state IS NOT DISTINCT FROM 'answered') AS is_answered
        FROM unnest($3::bigint[], $4::text[], $5::text[], $6::text[]) AS t(place, upstream, user_id, platform)
        JOIN gateway.upstream_user x ON x.tenant_id = $1 AND x.message_id = $2 AND x.upstream = t.upstream
            AND x.user_key = sha256(convert_to($2::uuid::text || '/' || t.platform || '/' || t.user_id, 'UTF8'))
        LEFT JOIN gateway.upstream_call c ON c.tenant_id = $1 AND c.message_id = $2 AND c.slice_no = x.slice_no AND c.epoch = x.epoch AND c.no = x.no
        GROUP BY t.place
        """
    )

    /// The tags out of `$4` that identities have.
    static let tags = StoreSQL.tenant(
        """
        SELECT t.place, x.tag FROM unnest($2::bigint[], $3::uuid[]) AS t(place, identity)
        JOIN gateway.identity_tag x ON x.tenant_id = $1 AND x.identity_id = t.identity AND x.tag = ANY ($4)
        """
    )

    static let image = StoreSQL.tenant("SELECT b.bytes FROM gateway.media b WHERE b.tenant_id = $1 AND b.hash = $2")

    static let beginCall = StoreSQL.function("begin_upstream_call", 12)

    /// The last call by which an upstream got the message for the target `$3`, among the first 1,000 calls of the message: no index leads from a target to its
    /// call, and only a message to very many users has more.
    static let upstreamCall = StoreSQL.tenant(
        """
        SELECT c.upstream, c.state = 'answered' AS is_answered, c.reference, c.called_at FROM (
            SELECT u.upstream, u.state, u.reference, u.called_at, u.targets FROM gateway.upstream_call u
            WHERE u.tenant_id = $1 AND u.message_id = $2 ORDER BY u.slice_no, u.epoch, u.no LIMIT 1000) AS c
        WHERE $3::uuid = ANY (c.targets) ORDER BY c.called_at DESC LIMIT 1
        """
    )

    /// The version of the rules by which a delivery was routed.
    static let routeVersion = StoreSQL.tenant(
        """
        SELECT d.route_version FROM gateway.delivery d
        WHERE d.tenant_id = $1 AND d.due_day = $2 AND d.message_id = $3 AND d.target_id = $4
        """
    )

    /// Runs after the slice was put back without a try.
    static let returnRoute = StoreSQL.function("return_route", 4, columns: "return_route AS count")

    static let settle = StoreSQL.function("settle_message", 2, columns: "settle_message AS count")

    /// Runs before `record` if slices are added to the message.
    static let lock = StoreSQL.tenant(
        "SELECT 1 AS one FROM gateway.message WHERE tenant_id = $1 AND message_id = $2 FOR NO KEY UPDATE"
    )

    /// Runs after the slice was put back, once for each slice that leaves it.
    static let split = StoreSQL.function("split_slice", 10, columns: "split_slice AS count")

    /// Runs last in the transaction that put the slice back.
    static let moveDue = StoreSQL.function("move_due", 4, columns: "move_due AS count")

    /// Skips a slice that another transaction is changing: that transaction makes it due, parks it or leases it.
    static let resume = StoreSQL.tenant(
        """
        WITH h AS (
            SELECT message_id, no FROM gateway.slice
            WHERE tenant_id = $1 AND held_by = $2 AND state = 'ready' AND next_at > now() FOR UPDATE SKIP LOCKED)
        UPDATE gateway.slice s SET held_by = NULL, next_at = now()
        FROM h WHERE s.tenant_id = $1 AND s.message_id = h.message_id AND s.no = h.no
        """
    )

    static let expand = StoreSQL.function("expand_variants", 8)
    static let draw = StoreSQL.function("draw_budget", 6, columns: "draw_budget AS count")
    static let condemn = StoreSQL.function("condemn_tokens", 6, columns: "condemn_tokens AS count")

    /// Moves a token to the other environment, in which the service knows it, unless another device has it there.
    static let move = StoreSQL.tenant(
        """
        UPDATE gateway.device d SET environment = $4
        WHERE d.tenant_id = $1 AND d.device_id = $2 AND d.token = $3 AND d.token_state = 'active' AND NOT EXISTS (
            SELECT FROM gateway.device o WHERE o.tenant_id = $1 AND o.app_id = d.app_id AND o.platform = d.platform
                AND o.token_digest = d.token_digest AND o.environment = $4)
        """
    )

    static let refuseCredential = StoreSQL.tenant(
        """
        UPDATE gateway.credential SET refusal = $3, refused_at = least(refused_at, now())
        WHERE tenant_id = $1 AND credential_id = $2 AND refusal IS DISTINCT FROM $3
        """
    )

    static let clearCredential = StoreSQL.tenant(
        """
        UPDATE gateway.credential SET refusal = NULL, refused_at = NULL
        WHERE tenant_id = $1 AND credential_id = $2 AND refusal IS NOT NULL
        """
    )

    static let heartbeat = StoreSQL.global(
        """
        INSERT INTO gateway.node AS n (node_id, seen_at) VALUES ($1, now())
        ON CONFLICT (node_id) DO UPDATE SET seen_at = excluded.seen_at
        RETURNING n.seen_at
        """
    )

    static let leave = StoreSQL.global("DELETE FROM gateway.node WHERE node_id = $1")

    static let takeBadges = StoreSQL.function("take_badges", 5)

    /// The template variables: those of the message for a user, and the stored attributes of the user in the dialect of the message (`$5`; null: in that of the
    /// identity).
    static let variables = StoreSQL.tenant(
        """
        SELECT t.place, v.variables, p.attributes FROM unnest($3::bigint[], $4::uuid[]) AS t(place, target)
        JOIN gateway.identity i ON i.tenant_id = $1 AND i.identity_id = t.target
        CROSS JOIN LATERAL (SELECT coalesce($5::text, i.vendor) AS vendor OFFSET 0) AS w
        LEFT JOIN gateway.message_variable v ON v.tenant_id = $1 AND v.message_id = $2 AND v.user_id = i.user_id
        LEFT JOIN gateway.user_profile p
            ON p.tenant_id = $1 AND p.app_id = i.app_id AND p.vendor = w.vendor AND p.user_id = i.user_id
        WHERE v.user_id IS NOT NULL OR p.user_id IS NOT NULL
        """
    )

    /// The targets whose users opted in to pushes, in the dialect of the message (`$4`; null: in that of the identity).
    static let optedIn = StoreSQL.tenant(
        """
        SELECT t.place FROM unnest($2::bigint[], $3::uuid[]) AS t(place, target)
        JOIN gateway.identity i ON i.tenant_id = $1 AND i.identity_id = t.target
        CROSS JOIN LATERAL (SELECT coalesce($4::text, i.vendor) AS vendor OFFSET 0) AS w
        JOIN gateway.user_profile p
            ON p.tenant_id = $1 AND p.app_id = i.app_id AND p.vendor = w.vendor AND p.user_id = i.user_id
        WHERE p.opted_in
        """
    )
}
