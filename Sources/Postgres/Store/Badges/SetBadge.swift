package import Model
package import PostgresClient

/// Sets the badge of a holder. Without a count, the badge is only read. Nil: the holder is unknown.
package struct SetBadge: StoreWrite {
    let scope: AppScope
    let holder: BadgeHolder
    let count: Int?

    package init(_ scope: AppScope, _ holder: BadgeHolder, _ count: Int?) {
        self.scope = scope
        self.holder = holder
        self.count = count
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.function("set_badge", 7, columns: "set_badge AS badge")

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql.with(call.owner(scope) + holder.parameters + [.int32(count.map { Int32(clamping: $0) })])
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Int? { try result.only().optionalInt("badge") }
}

extension BadgeHolder {
    /// Key, token and user.
    var parameters: [PostgresValue] { [.id(key), .string(token?.text), .id(user)] }
}
