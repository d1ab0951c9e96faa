import PostgresClient
import Store

/// The callbacks of senders: which have new events, and the events themselves.
enum SenderSQL {
    /// Subscriptions with events after their cursor, as a hint: over all tenants, without locks. Tenants take turns, and so do the hosts of a tenant: at
    /// most $2 rows of each.
    static let due = StoreSQL.global(
        """
        SELECT y.tenant_id, y.app_id, y.vendor, y.sender_id, y.url FROM (
        SELECT x.*, row_number() OVER (PARTITION BY x.tenant_id ORDER BY x.place, x.next_at) AS turn FROM (
        SELECT s.tenant_id, s.app_id, s.vendor, s.sender_id, s.callback_url AS url, s.next_at,
            \(StoreSQL.placeAtHost(of: "s", url: "callback_url")) AS place
        FROM gateway.sender s
        WHERE s.callback_url IS NOT NULL AND s.next_at <= now() AND (
            EXISTS (
                SELECT FROM gateway.event_batch b
                WHERE b.tenant_id = s.tenant_id AND b.app_id = s.app_id AND b.vendor = s.vendor
                    AND b.sender_id = s.sender_id AND b.last > s.cursor)
            OR EXISTS (
                SELECT FROM gateway.event_single o
                WHERE o.tenant_id = s.tenant_id AND o.app_id = s.app_id AND o.vendor = s.vendor
                    AND o.sender_id = s.sender_id AND o.position > s.cursor))) x
        WHERE x.place <= $2) y
        WHERE y.turn <= $2 ORDER BY y.turn, y.next_at LIMIT $1
        """
    )

    static let claim = StoreSQL.tenant(
        """
        UPDATE gateway.sender SET owner = $5, epoch = epoch + 1, next_at = now() + $6::interval
        WHERE tenant_id = $1 AND app_id = $2 AND vendor = $3 AND sender_id = $4
            AND callback_url IS NOT NULL AND next_at <= now()
        RETURNING callback_url, cursor, epoch, attempts
        """
    )

    static let failing = StoreSQL.tenant(
        """
        SELECT coalesce(floor(extract(epoch FROM now() - failing_since) * 1000), 0)::bigint AS failing, now() AS now
        FROM gateway.sender WHERE tenant_id = $1 AND app_id = $2 AND vendor = $3 AND sender_id = $4
        """
    )

    static let settings = StoreSQL.tenant(
        """
        SELECT vendor, app_id, settings FROM gateway.binding WHERE tenant_id = $1 AND app_id = $2 AND vendor = $3 LIMIT 1
        """
    )

    /// `name` is the name by which the sender named the target. For an audience without names (everyone of an app), it is the name that the sender would use.
    static let batch = StoreSQL.tenant(
        """
        WITH e AS (
            SELECT u.position, u.message_id, u.target_id, u.due_day FROM (
                (SELECT \(StoreSQL.batchedEvent)
                FROM (
                    SELECT * FROM gateway.event_batch b
                    WHERE b.tenant_id = $1 AND b.app_id = $2 AND b.vendor = $3 AND b.sender_id = $4 AND b.last > $5::bigint
                    ORDER BY b.last LIMIT $6) b
                CROSS JOIN LATERAL generate_series(greatest($5::bigint - b.last + b.count, 0)::integer + 1, b.count) AS i
                ORDER BY b.last, i LIMIT $6)
                UNION ALL
                (SELECT \(StoreSQL.singleEvent) FROM gateway.event_single s
                WHERE s.tenant_id = $1 AND s.app_id = $2 AND s.vendor = $3 AND s.sender_id = $4 AND s.position > $5::bigint
                ORDER BY s.position LIMIT $6)) u
            ORDER BY u.position LIMIT $6)
        SELECT e.position, \(StoreSQL.snapshotColumns),
            coalesce(d.address, 'phone:' || i.phone, 'key:' || i.key) AS name FROM e
        LEFT JOIN gateway.delivery d ON d.tenant_id = $1 AND d.due_day = e.due_day AND d.message_id = e.message_id
            AND d.target_id = e.target_id
        LEFT JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = e.message_id
        LEFT JOIN gateway.identity i ON i.tenant_id = $1 AND i.identity_id = d.identity_id
        ORDER BY e.position
        """
    )

    static let advance = StoreSQL.tenant(
        """
        UPDATE gateway.sender SET cursor = greatest(cursor, $7), attempts = 0, failing_since = NULL, failure = NULL,
            owner = NULL, next_at = now()
        WHERE tenant_id = $1 AND app_id = $2 AND vendor = $3 AND sender_id = $4 AND owner = $5 AND epoch = $6
        """
    )

    static let postpone = StoreSQL.tenant(
        """
        UPDATE gateway.sender SET cursor = greatest(cursor, $9),
            attempts = CASE WHEN $9 > cursor THEN 1 ELSE attempts + 1 END,
            failing_since = least(CASE WHEN $9 > cursor THEN NULL ELSE failing_since END, now()),
            failure = $7, owner = NULL, next_at = now() + $8::interval
        WHERE tenant_id = $1 AND app_id = $2 AND vendor = $3 AND sender_id = $4 AND owner = $5 AND epoch = $6
        """
    )
}

extension StoreSQL {
    /// The place of a subscription among those of its tenant that call the same host, by the time when they became due.
    static func placeAtHost(of table: String, url: String) -> String {
        """
        row_number() OVER (
            PARTITION BY \(table).tenant_id, lower(substring(\(table).\(url) from '://([^/?#]*)'))
            ORDER BY \(table).next_at)
        """
    }
}
