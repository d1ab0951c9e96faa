/// Statements of the program of schema version 42 that name the event log.
enum Version42SQL {
    static let head = "SELECT last FROM gateway.event_head WHERE tenant_id = $1"

    static let page = """
        WITH e AS (
            SELECT position, at, kind, app_id, vendor, sender_id, message_id, target_id, due_day, identity_id, device_id, data
            FROM gateway.event
            WHERE tenant_id = $1 AND position > $2::bigint AND position <= $2::bigint + $3::bigint
                AND ($4::text IS NULL OR app_id = $4) AND (cardinality($5::text[]) = 0 OR kind = ANY ($5::text[]))
                AND ($7::text IS NULL OR vendor = $7)
            ORDER BY position LIMIT $6)
        SELECT e.position, e.at, e.kind, e.app_id, e.vendor, e.sender_id, e.message_id, e.target_id, e.data,
            w.identity_id, coalesce(e.device_id, d.device_id) AS device_id,
            coalesce(d.address, 'key:' || i.key) AS address, d.user_id,
            CASE WHEN e.kind IN ('failed', 'suppressed', 'expired', 'canceled') THEN d.reason END AS reason
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

    static let dropEvents = """
        WITH old AS (
            SELECT e.position, e.at FROM gateway.event e WHERE e.tenant_id = $1 ORDER BY e.position LIMIT 10000),
        kept AS (
            SELECT min(old.position) AS first FROM old
            WHERE old.at >= now() - $2::interval OR old.at >= now() - $3::interval
                AND old.position > (SELECT min(w.cursor) FROM gateway.webhook w WHERE w.tenant_id = $1))
        DELETE FROM gateway.event WHERE tenant_id = $1 AND position IN (
            SELECT old.position FROM old WHERE old.position < (SELECT coalesce(kept.first, 9223372036854775807) FROM kept))
        """

    static let webhooksDue = """
        SELECT w.tenant_id, w.webhook_id FROM gateway.webhook w
        JOIN gateway.event_head h ON h.tenant_id = w.tenant_id
        WHERE w.is_active AND w.next_at <= now() AND h.last > w.cursor ORDER BY w.next_at LIMIT $1
        """

    static let sendersDue = """
        SELECT s.tenant_id, s.app_id, s.vendor, s.sender_id FROM gateway.sender s
        CROSS JOIN LATERAL (
            SELECT e.position FROM gateway.event e
            WHERE e.tenant_id = s.tenant_id AND e.app_id = s.app_id AND e.vendor = s.vendor
                AND e.sender_id = s.sender_id AND e.position > s.cursor LIMIT 1) x
        WHERE s.callback_url IS NOT NULL AND s.next_at <= now() ORDER BY s.next_at LIMIT $1
        """
}
