package import Model
package import PostgresClient

/// Changes the preferences of the calling device. Returns the number of changed devices: 0 or 1.
package struct SetPreferences: StoreWrite {
    let scope: AppScope
    let caller: DeviceCaller
    let change: PreferenceChange

    package init(_ scope: AppScope, _ caller: DeviceCaller, _ change: PreferenceChange) {
        self.scope = scope
        self.caller = caller
        self.change = change
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.function("set_preferences", 10, columns: "set_preferences AS count")
    /// The batch form: changes only whether pushes are accepted.
    private static let set = StoreSQL.function("set_many_preferences", 5, columns: "count, ordinal")

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql.with(
            call.caller(caller, scope) + [
                .bool(change.acceptsPush), .string(change.timeZone?.text),
                .int32(change.windowFrom.map { Int32(clamping: $0) }),
                .int32(change.windowTo.map { Int32(clamping: $0) }), .id(change.alias),
            ]
        )
    }

    package func batch(_ call: StoreCall) -> StatementBatch? {
        guard let key = caller.key, let accepts = change.acceptsPush, change == PreferenceChange(acceptsPush: accepts)
        else { return nil }
        return StatementBatch(
            sql: Self.set,
            shared: call.owner(scope) + [.bool(accepts)],
            row: [.id(key)],
            subject: key.rawValue
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Int { try result.count() }
}
