import PostgresClient
import Store

/// The callbacks of senders: which have new events, and the events themselves.
enum SenderSQL {
    /// Subscriptions with events after their cursor, as a hint: over all tenants, without locks.
    static let due = StoreSQL.global(
        """
        SELECT s.tenant_id, s.app_id, s.vendor, s.sender_id FROM gateway.sender s
        CROSS JOIN LATERAL (
            SELECT e.position FROM gateway.event e
            WHERE e.tenant_id = s.tenant_id AND e.app_id = s.app_id AND e.vendor = s.vendor
                AND e.sender_id = s.sender_id AND e.position > s.cursor LIMIT 1) x
        WHERE s.callback_url IS NOT NULL AND s.next_at <= now() ORDER BY s.next_at LIMIT $1
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
            SELECT position, message_id, target_id, due_day FROM gateway.event
            WHERE tenant_id = $1 AND app_id = $2 AND vendor = $3 AND sender_id = $4 AND position > $5
            ORDER BY position LIMIT $6)
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
            failing_since = CASE WHEN $9 > cursor THEN now() ELSE least(failing_since, now()) END,
            failure = $7, owner = NULL, next_at = now() + $8::interval
        WHERE tenant_id = $1 AND app_id = $2 AND vendor = $3 AND sender_id = $4 AND owner = $5 AND epoch = $6
        """
    )
}
