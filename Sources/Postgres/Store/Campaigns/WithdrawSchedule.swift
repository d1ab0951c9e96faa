package import Model
package import PostgresClient

/// Cancels the message of a schedule that is to have another one.
///
/// It must be what was read, and still to come, else nothing of the transaction is done: `StoreError.outdated`. Before the acceptance, which writes events:
/// whoever steers a message locks it before the tenant's events.
package struct WithdrawSchedule: StoreWrite {
    let scope: AppScope
    let version: ScheduleVersion

    package init(_ scope: AppScope, _ version: ScheduleVersion) {
        self.scope = scope
        self.version = version
    }

    private static let sql = StoreSQL.function("withdraw_schedule", 5, columns: "withdraw_schedule AS count")

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql.with(call.owner(scope) + [.id(version.id), .id(version.message)])
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Int { try result.count() }
}
