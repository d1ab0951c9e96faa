package import Model
package import PostgresClient

/// Finds one message of the calling device by its number. Nil: the device has no message with that number.
package struct FindInboxMessage: StoreRead {
    let scope: AppScope
    let caller: DeviceCaller
    let number: String
    let isWhole: Bool

    package init(_ scope: AppScope, _ caller: DeviceCaller, number: String, isWhole: Bool = false) {
        self.scope = scope
        self.caller = caller
        self.number = number
        self.isWhole = isWhole
    }

    private static let sql = StoreSQL.function("history_message", 7)

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql.with(call.caller(caller, scope) + [.string(number), .bool(isWhole)])
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> InboxEntry? {
        try result.rows(InboxEntry.read).first
    }
}
