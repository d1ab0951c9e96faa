package import Model
package import PostgresClient

/// Finds a schedule by its id.
package struct FindSchedule: StoreRead {
    let scope: AppScope
    let id: MessageID

    package init(_ scope: AppScope, _ id: MessageID) {
        self.scope = scope
        self.id = id
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.tenant("SELECT \(Schedule.selection) AND s.schedule_id = $4")

    package func statement(_ call: StoreCall) -> Statement { Self.sql.with(call.owner(scope) + [.id(id)]) }

    package func read(_ result: ResultSet) throws(PostgresError) -> Schedule? { try result.rows(Schedule.read).first }
}

extension Schedule {
    /// A message that awaits an approval is still scheduled for its sender, who may change or cancel it.
    static let state = MessageSQL.state(awaiting: .scheduled)

    /// The columns that `read` needs, of the schedules of tenant, app and dialect.
    static let selection = """
        s.schedule_id, s.message_id, s.request, \(state) AS state, m.due_at, m.due_local IS NOT NULL AS is_local
        FROM gateway.schedule s JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = s.message_id
        WHERE s.tenant_id = $1 AND s.app_id = $2 AND s.vendor = $3
        """

    static func read(_ row: Row) throws(PostgresError) -> Schedule {
        Schedule(
            id: try row.id("schedule_id"),
            message: try row.id("message_id"),
            state: try row.word("state"),
            dueAt: try row.time("due_at"),
            isLocal: try row.bool("is_local"),
            request: try row.object("request")
        )
    }
}
