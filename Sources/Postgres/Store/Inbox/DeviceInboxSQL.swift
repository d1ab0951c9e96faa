import PostgresClient

/// The history of one device.
enum DeviceInboxSQL {
    /// The messages before `$3`, newest first.
    static let list = StoreSQL.tenant(
        """
        SELECT \(StoreSQL.snapshotColumns), m.app_id, m.vendor, m.content, m.due_at, m.expires_at, m.collapse_id, m.sender_id,
            \(StoreSQL.numbersColumn)
        FROM gateway.delivery d
        JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = d.message_id
        WHERE d.tenant_id = $1 AND d.device_id = $2 AND d.message_id < $3 AND NOT m.awaits_approval
        ORDER BY d.message_id DESC LIMIT $4
        """
    )
}
