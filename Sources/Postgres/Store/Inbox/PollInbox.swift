package import Model
package import PostgresClient

/// Returns the messages that the device has not received, independent of their pushes, oldest first, and marks them as received.
package struct PollInbox: StoreWrite {
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

    private static let sql = StoreSQL.function("poll_inbox", 9)

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql.with(
            call.caller(caller, scope) + [
                .id(MessageID.first(after: at)), .int32(Int32(clamping: limit)), .time(at), .id(call.node),
            ]
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> [InboxEntry] { try result.rows(InboxEntry.read) }
}
