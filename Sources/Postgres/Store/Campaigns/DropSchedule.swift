package import Model
package import PostgresClient

/// Cancels the message of a schedule if it is not due yet. Returns the number of canceled messages: 0 or 1.
package struct DropSchedule: StoreWrite {
    let scope: AppScope
    let id: MessageID

    package init(_ scope: AppScope, _ id: MessageID) {
        self.scope = scope
        self.id = id
    }

    private static let sql = StoreSQL.function("drop_schedule", 4, columns: "drop_schedule AS count")

    package func statement(_ call: StoreCall) -> Statement { Self.sql.with(call.owner(scope) + [.id(id)]) }

    package func read(_ result: ResultSet) throws(PostgresError) -> Int { try result.count() }
}
