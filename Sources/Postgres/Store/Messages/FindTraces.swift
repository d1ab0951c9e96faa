package import Model
package import PostgresClient

/// Finds the traces of messages by their ids or numbers. Messages that were not sampled are not found.
package struct FindTraces: StoreRead {
    /// 500 messages per statement.
    package static let limit = 500

    let scope: AppScope
    let references: [String]

    package init(_ scope: AppScope, _ references: [String]) {
        self.scope = scope
        self.references = references
    }

    private static let sql = StoreSQL.tenant(
        """
        SELECT u.reference, t.trace
        FROM (SELECT r.reference, gateway.numbered_message($1, $2, $3, r.reference) AS message_id
            FROM unnest($4::text[]) AS r(reference) OFFSET 0) u
        CROSS JOIN LATERAL (
            SELECT m.content ->> 'trace' AS trace FROM gateway.message m
            WHERE m.tenant_id = $1 AND m.message_id = u.message_id AND m.app_id = $2 LIMIT 1) t
        WHERE t.trace IS NOT NULL
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql.with(call.owner(scope) + [.strings(references)])
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> [String: TraceContext] {
        var traces: [String: TraceContext] = [:]
        for row in result { traces[try row.text("reference")] = TraceContext(stored: try row.text("trace")) }
        return traces
    }
}
