package import Model
package import PostgresClient

/// Counts the messages that the device has not received, up to `limit`.
package struct CountUnreceived: StoreRead {
    let scope: AppScope
    let caller: DeviceCaller
    let limit: Int
    let at: Timestamp

    package init(_ scope: AppScope, _ caller: DeviceCaller, limit: Int, at: Timestamp) {
        self.scope = scope
        self.caller = caller
        self.limit = limit
        self.at = at
    }

    /// `$6`: only messages that are due by this time. `$7`: the maximum count.
    private static let sql = StoreSQL.function("count_unreceived", 7, columns: "count_unreceived AS count")

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql.with(call.caller(caller, scope) + [.id(MessageID.first(after: at)), .int(max(0, limit))])
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Int { try result.count() }
}
