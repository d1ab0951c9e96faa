import PostgresClient

/// Deliveries of a range, in the order of their key.
enum ExportSQL {
    /// Those after the message `$4` and its target `$5`, of messages before `$6`; at most `$7`. `$2`, `$3`: the first and last day, for the partitions.
    private static let range = """
        SELECT x.* FROM gateway.delivery x
        WHERE x.tenant_id = $1 AND x.due_day >= $2 AND x.due_day <= $3
            AND (x.due_day, x.message_id, x.target_id) > ($2, $4, $5) AND x.message_id < $6
        ORDER BY x.due_day, x.message_id, x.target_id
        """

    /// `$8`, `$9`: only those of an app or of a dialect; null: any. At most `$10`.
    static let deliveries = StoreSQL.tenant(
        """
        SELECT \(MessageSQL.deliveryColumns), d.app_id, d.vendor FROM (\(range) LIMIT $7) d
        CROSS JOIN (SELECT 'done' AS state, NULL::json AS fallback) m
        WHERE ($8::text IS NULL OR d.app_id = $8) AND ($9::text IS NULL OR d.vendor = $9)
        ORDER BY d.due_day, d.message_id, d.target_id LIMIT $10
        """
    )

    /// The last of the next `$7` deliveries; no row when there are fewer.
    static let end = StoreSQL.tenant("SELECT d.message_id, d.target_id FROM (\(range) OFFSET $7::bigint - 1 LIMIT 1) d")
}
