package import Model
package import PostgresClient

/// Counts the outcomes of the messages with a label for each day, ordered by day.
package struct CountSeries: StoreRead {
    let scope: AppScope
    let label: String
    let days: ClosedRange<Int32>

    package init(_ scope: AppScope, label: String, days: ClosedRange<Int32>) {
        self.scope = scope
        self.label = label
        self.days = days
    }

    /// Reads one partition for each day.
    private static let sql = StoreSQL.tenant(
        """
        SELECT l.due_day, count(*) FILTER (WHERE d.state IN ('sent', 'received', 'read')) AS sent,
            count(*) FILTER (WHERE d.state = 'read') AS read, count(*) FILTER (WHERE d.state = 'failed') AS failed,
            count(DISTINCT coalesce(d.user_id, chr(31) || d.target_id::text)) FILTER (WHERE d.state IN ('sent', 'received', 'read')) AS users
        FROM gateway.message_label l
        JOIN gateway.delivery d ON d.tenant_id = $1 AND d.due_day = l.due_day AND d.message_id = l.message_id
            AND d.due_day BETWEEN $5 AND $6
        WHERE l.tenant_id = $1 AND l.app_id = $2 AND l.vendor = $3 AND l.label = $4 AND l.due_day BETWEEN $5 AND $6
        GROUP BY l.due_day ORDER BY l.due_day
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql.with(call.owner(scope) + [.string(label), .int32(days.lowerBound), .int32(days.upperBound)])
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> [SeriesDay] {
        try result.rows { (row) throws(PostgresError) in
            SeriesDay(
                day: Int32(clamping: try row.int("due_day")),
                sent: try row.int("sent"),
                read: try row.int("read"),
                failed: try row.int("failed"),
                users: try row.int("users")
            )
        }
    }
}
