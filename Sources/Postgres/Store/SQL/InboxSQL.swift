/// Receipts, history and media, as a device asks for them.
enum InboxSQL {
    static let receipt = StoreSQL.function("record_receipt", 8, columns: "record_receipt AS outcome")
    /// The same for many, as a `Fold` puts it.
    static let receipts = StoreSQL.function("record_receipts", 8, columns: "ordinal, outcome")
    static let delivery = StoreSQL.function("reported_delivery", 5)

    static let touch = StoreSQL.tenant(
        """
        UPDATE gateway.device d SET seen_at = greatest(d.seen_at, $5) FROM gateway.identity i
        WHERE d.tenant_id = $1 AND i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.key = $4
            AND i.state = 'active' AND d.device_id = i.device_id
        """
    )

    /// `$5` is the first due day to look at, so that older partitions are not touched.
    static let undelivered = StoreSQL.tenant(
        """
        SELECT \(StoreSQL.messageColumns), m.sender_id, d.received_at, d.read_at
        FROM gateway.identity i
        JOIN gateway.delivery d ON d.tenant_id = $1 AND d.identity_id = i.identity_id
        JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = d.message_id
        WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.key = $4
            AND d.due_day >= $5 AND d.state = 'sent' AND d.sent_at >= $6
        ORDER BY m.due_at DESC, m.message_id DESC LIMIT $7
        """
    )

    static let putMedia = StoreSQL.tenant(
        """
        INSERT INTO gateway.media (tenant_id, hash, content_type, bytes, created_at) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (tenant_id, hash) DO NOTHING
        """
    )

    static let media = StoreSQL.tenant(
        """
        SELECT b.bytes, b.content_type FROM gateway.message m
        JOIN gateway.message_media l ON l.tenant_id = $1 AND l.message_id = m.message_id
        JOIN gateway.media b ON b.tenant_id = $1 AND b.hash = l.hash
        WHERE m.tenant_id = $1 AND m.message_id = $3 AND m.app_id = $2 AND l.media_id = $4
        """
    )

    static let ownMedia = StoreSQL.tenant(
        """
        SELECT b.bytes, b.content_type FROM gateway.message_ref r
        JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = r.message_id
        JOIN gateway.message_media l ON l.tenant_id = $1 AND l.message_id = r.message_id
        JOIN gateway.media b ON b.tenant_id = $1 AND b.hash = l.hash
        WHERE r.tenant_id = $1 AND r.app_id = $2 AND r.vendor = $3 AND r.ref = $4 AND m.content->'data'->>'owner' = $5 LIMIT 1
        """
    )

    static let all = [receipt, receipts, delivery, touch, undelivered, putMedia, media, ownMedia]
}
