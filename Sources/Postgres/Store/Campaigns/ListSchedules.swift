package import Model
package import PostgresClient

/// Returns the schedules whose message is not due yet, ordered by due time.
package struct ListSchedules: StoreRead {
    let scope: AppScope
    let until: Timestamp?
    let limit: Int

    package init(_ scope: AppScope, until: Timestamp?, limit: Int) {
        self.scope = scope
        self.until = until
        self.limit = limit
    }

    private static let sql = StoreSQL.tenant(
        """
        SELECT \(Schedule.selection) AND \(Schedule.state) = 'scheduled' AND ($4::timestamptz IS NULL OR m.due_at <= $4)
        ORDER BY m.due_at, s.schedule_id LIMIT $5
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql.with(call.owner(scope) + [.time(until), .int(limit)])
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> [Schedule] { try result.rows(Schedule.read) }
}
