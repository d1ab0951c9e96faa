package import Model
package import PostgresClient

/// Cancels the message of a schedule if that is still to come. Answers with how many were cancelled: none or one.
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
