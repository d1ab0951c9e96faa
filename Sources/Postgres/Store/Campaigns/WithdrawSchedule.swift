package import Model
package import PostgresClient

/// Cancels the message of a schedule that is about to get a new message.
///
/// The message must be the one that was read and must not be due yet. Otherwise the whole transaction fails with `StoreError.outdated`. It runs before the
/// acceptance, which writes events: a transaction that controls a message locks the message before the tenant's events.
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
