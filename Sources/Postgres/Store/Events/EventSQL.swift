import PostgresClient

/// The event log, as the native API and the webhook dispatcher read it.
enum EventSQL {
    /// The last offset. No row before the first event. It is read before `page`: everything up to it is visible to every later statement.
    static let head = StoreSQL.tenant(StoreSQL.lastEvent(of: "$1"))

    static let bounds = StoreSQL.function("event_bounds", 1)

    /// The first events after `$2`.
    static let next = StoreSQL.tenant(
        "SELECT b.last, b.at FROM gateway.event_batch b WHERE b.tenant_id = $1 AND b.last > $2::bigint ORDER BY b.last LIMIT 1"
    )

    static let generation = StoreSQL.global("SELECT gateway.current_generation()::text AS generation")

    /// Events after `$2` among the next `$3`, of app `$4` (null: all), of kinds `$5` (empty: all) and of dialect `$7` (null: all), at most `$6`. The page may
    /// begin and end within a batch. Columns of the delivery are not copied into the event: its outcome is written once, and an erasure removes the addressee
    /// from both. They are looked up row by row: with a join, the planner reads a table without statistics completely for each event.
    static let page = StoreSQL.tenant(
        """
        WITH e AS (
            SELECT u.* FROM (
                (SELECT \(StoreSQL.batchedEvent)
                FROM (
                    SELECT * FROM gateway.event_batch b
                    WHERE b.tenant_id = $1 AND b.last > $2::bigint AND b.last < $2::bigint + $3::bigint + \(StoreSQL.batchLimit)
                        AND ($4::text IS NULL OR b.app_id = $4) AND (cardinality($5::text[]) = 0 OR b.kind = ANY ($5::text[]))
                        AND ($7::text IS NULL OR b.vendor = $7)
                    ORDER BY b.last LIMIT $6) b
                CROSS JOIN LATERAL generate_series(
                    greatest($2::bigint - b.last + b.count, 0)::integer + 1,
                    least($2::bigint + $3::bigint - b.last + b.count, b.count)::integer) AS i
                ORDER BY b.last, i LIMIT $6)
                UNION ALL
                (SELECT \(StoreSQL.singleEvent) FROM gateway.event_single s
                WHERE s.tenant_id = $1 AND s.position > $2::bigint AND s.position <= $2::bigint + $3::bigint
                    AND ($4::text IS NULL OR s.app_id = $4) AND (cardinality($5::text[]) = 0 OR s.kind = ANY ($5::text[]))
                    AND ($7::text IS NULL OR s.vendor = $7)
                ORDER BY s.position LIMIT $6)) u
            ORDER BY u.position LIMIT $6)
        SELECT e.position, e.at, e.kind, e.app_id, e.vendor, e.sender_id, e.message_id, e.target_id, e.data,
            w.identity_id, coalesce(e.device_id, d.device_id) AS device_id,
            coalesce(d.address, 'key:' || i.key) AS address, d.user_id,
            CASE WHEN e.kind IN ('failed', 'suppressed', 'expired', 'canceled') THEN coalesce(e.reason, d.reason) END AS reason
        FROM e
        LEFT JOIN LATERAL (
            SELECT d.identity_id, d.device_id, d.address, d.user_id, d.reason FROM gateway.delivery d
            WHERE d.tenant_id = $1 AND d.due_day = e.due_day AND d.message_id = e.message_id AND d.target_id = e.target_id
            LIMIT 1) d ON true
        CROSS JOIN LATERAL (SELECT coalesce(e.identity_id, d.identity_id) AS identity_id OFFSET 0) w
        LEFT JOIN LATERAL (
            SELECT i.key FROM gateway.identity i WHERE i.tenant_id = $1 AND i.identity_id = w.identity_id LIMIT 1) i ON true
        ORDER BY e.position
        """
    )

    private static let factColumns = """
        i.key, i.user_id, d.platform, d.environment, d.time_zone
        """

    // The facts for an export of events. Looked up row by row, as in `page`.

    static let identities = StoreSQL.tenant(
        """
        SELECT q.id, r.* FROM unnest($2::uuid[]) AS q(id)
        CROSS JOIN LATERAL (
            SELECT \(factColumns) FROM gateway.identity i
            LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
            WHERE i.tenant_id = $1 AND i.identity_id = q.id LIMIT 1) AS r
        """
    )

    static let devices = StoreSQL.tenant(
        """
        SELECT q.id, r.* FROM unnest($2::uuid[]) AS q(id)
        CROSS JOIN LATERAL (
            SELECT \(factColumns) FROM gateway.device d
            LEFT JOIN gateway.identity i ON i.tenant_id = $1 AND i.device_id = d.device_id
            WHERE d.tenant_id = $1 AND d.device_id = q.id ORDER BY i.state = 'active' DESC, i.identity_id LIMIT 1) AS r
        """
    )

    /// Only the members `$3` of a message's data, because the whole data may be a megabyte.
    static let messages = StoreSQL.tenant(
        """
        SELECT q.id, r.* FROM unnest($2::uuid[]) AS q(id)
        CROSS JOIN LATERAL (
            SELECT m.vendor, (
                SELECT json_object_agg(n.name, m.content->'data'->n.name) FROM unnest($3::text[]) AS n(name)
                WHERE m.content->'data'->n.name IS NOT NULL) AS data
            FROM gateway.message m
            WHERE m.tenant_id = $1 AND m.message_id = q.id LIMIT 1) AS r
        """
    )
}
