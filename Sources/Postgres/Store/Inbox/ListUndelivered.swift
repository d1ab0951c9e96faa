package import Model
package import PostgresClient

/// Returns the messages that were sent to an identity since a time and have no receipt, newest first.
package struct ListUndelivered: StoreRead {
    let scope: AppScope
    let key: VendorDeviceKey
    let since: Timestamp
    let limit: Int

    package init(_ scope: AppScope, key: VendorDeviceKey, since: Timestamp, limit: Int) {
        self.scope = scope
        self.key = key
        self.since = since
        self.limit = limit
    }

    /// `$5` is the first due day to read, so that older partitions are not touched.
    private static let sql = StoreSQL.tenant(
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

    package func statement(_ call: StoreCall) -> Statement {
        // A week earlier: a message that was sent since then may have been due before, while its credential was stopped.
        let firstDay = max(since.day, 7) - 7
        return Self.sql(
            .id(call.tenant),
            .id(scope.app),
            .id(scope.vendor),
            .id(key),
            .int32(firstDay),
            .time(since),
            .int(max(0, limit))
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> [InboxEntry] {
        try result.rows { (row) throws(PostgresError) in
            InboxEntry(
                notification: try NotificationRow.read(row),
                sender: try row.optionalID("sender_id"),
                receivedAt: try row.optionalTime("received_at"),
                readAt: try row.optionalTime("read_at")
            )
        }
    }
}
