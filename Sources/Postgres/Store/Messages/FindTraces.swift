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

    private static let sql = StoreSQL.function("find_traces", 4)

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql.with(call.owner(scope) + [.strings(references)])
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> [String: TraceContext] {
        var traces: [String: TraceContext] = [:]
        for row in result { traces[try row.text("reference")] = TraceContext(stored: try row.text("trace")) }
        return traces
    }
}
