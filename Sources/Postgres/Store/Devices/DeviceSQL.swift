import PostgresClient

/// Devices, as the native API reads them.
enum DeviceSQL {
    private static let columns = """
        d.device_id, d.app_id, d.platform, d.environment, d.token, d.token_state, d.token_registered_at, d.created_at, d.seen_at,
        \(StoreSQL.clockColumns)
        """

    static let list = StoreSQL.tenant(
        """
        SELECT \(columns) FROM gateway.device d
        WHERE d.tenant_id = $1 AND ($2::text IS NULL OR d.app_id = $2) AND ($3::uuid IS NULL OR d.device_id > $3)
        ORDER BY d.device_id LIMIT $4
        """
    )

    /// Finds devices by attributes of an active identity, `$4` to `$7`, and by token, `$8`; null matches any. The app is joined so that each look-up uses
    /// an index that begins with it.
    static let filtered = StoreSQL.tenant(
        """
        SELECT \(columns) FROM gateway.device d
        WHERE d.tenant_id = $1 AND ($2::text IS NULL OR d.app_id = $2) AND ($3::uuid IS NULL OR d.device_id > $3)
            AND ($8::text IS NULL OR d.token_digest = md5($8) AND d.token = $8)
            AND ($4::text IS NULL AND $5::text IS NULL AND $6::text IS NULL AND $7::text IS NULL OR d.device_id IN (
                SELECT i.device_id FROM gateway.app a JOIN gateway.identity i ON i.tenant_id = $1 AND i.app_id = a.app_id
                WHERE a.tenant_id = $1 AND ($2::text IS NULL OR a.app_id = $2) AND i.state = 'active'
                    AND ($4::text IS NULL OR i.vendor = $4) AND ($5::text IS NULL OR i.user_id = $5)
                    AND ($6::text IS NULL OR i.key = $6) AND ($7::text IS NULL OR i.phone = $7)))
        ORDER BY d.device_id LIMIT $9
        """
    )

    static let one = StoreSQL.tenant(
        "SELECT \(columns) FROM gateway.device d WHERE d.tenant_id = $1 AND d.device_id = $2"
    )

    static let identities = StoreSQL.tenant(
        """
        SELECT i.device_id, i.identity_id, i.vendor, i.key, i.state, i.user_id, i.name, i.phone, i.accepts_push, i.attributes,
            i.registered_at, (SELECT coalesce(array_agg(t.tag ORDER BY t.tag), '{}') FROM gateway.identity_tag t
                WHERE t.tenant_id = $1 AND t.identity_id = i.identity_id) AS tags
        FROM gateway.identity i WHERE i.tenant_id = $1 AND i.device_id = ANY ($2) ORDER BY i.device_id, i.vendor, i.identity_id
        """
    )

    /// Counts the unread messages among the newest `$3` of a device, for all of its users. No index contains receipts, so each row is read.
    static let unread = StoreSQL.tenant(
        """
        SELECT count(*) FILTER (WHERE l.is_unread) AS unread FROM (
            SELECT d.read_at IS NULL AND d.state <> 'canceled' AND d.reason IS DISTINCT FROM 'duplicate' AS is_unread
            FROM gateway.delivery d JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = d.message_id
            WHERE d.tenant_id = $1 AND d.device_id = $2
            ORDER BY d.message_id DESC LIMIT $3) AS l
        """
    )
}
