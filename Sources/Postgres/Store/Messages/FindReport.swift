package import Model
package import PostgresClient

/// Returns a message of the scope's dialect with the counts of its settled deliveries. Nil: the message does not exist.
package struct FindReport: StoreRead {
    let scope: AppScope
    let message: MessageID

    package init(_ scope: AppScope, _ message: MessageID) {
        self.scope = scope
        self.message = message
    }

    /// One row for each outcome, and one row when no delivery is settled. Reads only one partition.
    private static let sql = StoreSQL.tenant(
        """
        SELECT m.message_id, \(MessageSQL.state()) AS state, m.content, m.accepted_at, t.outcome, t.reason, t.count, t.first_at, t.last_at
        FROM gateway.message m
        LEFT JOIN LATERAL (
            SELECT d.state AS outcome, d.reason, count(*) AS count, min(d.sent_at) AS first_at, max(d.sent_at) AS last_at
            FROM gateway.delivery d
            WHERE d.tenant_id = $1 AND d.due_day = m.due_day AND d.message_id = m.message_id
            GROUP BY d.state, d.reason) t ON true
        WHERE m.tenant_id = $1 AND m.message_id = $2 AND m.app_id = $3 AND m.vendor = $4
        ORDER BY t.outcome, t.reason NULLS FIRST
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(message), .id(scope.app), .id(scope.vendor))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> MessageReport? {
        guard let first = result.first else { return nil }
        var report = MessageReport(
            message: try first.id("message_id"),
            state: try first.word("state"),
            content: ContentCoding.decode(try first.object("content")),
            acceptedAt: try first.time("accepted_at")
        )
        for row in result {
            guard try !row.isNull("outcome") else { continue }
            report.tallies.append(
                MessageReport.Tally(
                    state: try row.word("outcome"),
                    reason: try row.optionalText("reason"),
                    count: try row.int("count")
                )
            )
            let (from, to) = (try row.optionalTime("first_at"), try row.optionalTime("last_at"))
            report.firstAt = [report.firstAt, from].compactMap(\.self).min()
            report.lastAt = [report.lastAt, to].compactMap(\.self).max()
        }
        return report
    }
}
