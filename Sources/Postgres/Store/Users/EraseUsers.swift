package import Model
package import PostgresClient

/// Erases users together with devices that have no other user, and writes a row of the audit for each. Returns how many of the users existed.
package struct EraseUsers: StoreWrite {
    let scope: AppScope
    let users: [UserID]
    let actor: String

    package init(_ scope: AppScope, _ users: [UserID], by actor: String) {
        self.scope = scope
        self.users = users
        self.actor = actor
    }

    package var isAuditedBySchema: Bool { true }

    private static let sql = StoreSQL.function("erase_users", 5, columns: "erase_users AS count")

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql.with(call.owner(scope) + [.strings(users.map(\.rawValue)), .string(actor)])
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Int { try result.count() }
}
