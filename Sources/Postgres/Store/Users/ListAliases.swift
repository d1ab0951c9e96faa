package import Model
package import PostgresClient

/// Returns the aliases of users, at most `limit` in total.
package struct ListAliases: StoreRead {
    let scope: AppScope
    let users: [UserID]
    let limit: Int

    package init(_ scope: AppScope, of users: [UserID], limit: Int) {
        self.scope = scope
        self.users = users
        self.limit = limit
    }

    private static let sql = StoreSQL.tenant(
        """
        SELECT a.user_id, a.label, a.name FROM gateway.user_alias a
        WHERE a.tenant_id = $1 AND a.app_id = $2 AND a.vendor = $3 AND a.user_id = ANY ($4)
        ORDER BY a.user_id, a.label, a.name LIMIT $5
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql.with(call.owner(scope) + [.strings(users.map(\.rawValue)), .int(max(0, limit))])
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> [UsersOwn<UserAlias>] {
        try result.rows { (row) throws(PostgresError) in
            let alias = UserAlias(label: try row.text("label"), name: try row.text("name"))
            return UsersOwn(user: try row.id("user_id"), value: alias)
        }
    }
}

/// A value that belongs to one user.
package struct UsersOwn<Value: Sendable & Hashable>: Sendable, Hashable {
    package var user: UserID
    package var value: Value

    package init(user: UserID, value: Value) {
        self.user = user
        self.value = value
    }
}
