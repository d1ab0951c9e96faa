package import Model
package import PostgresClient

/// Counts the acts of users by name, the latest first, at most `limit` per user.
package struct ListTallies: StoreRead {
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
        SELECT t.user_id, t.kind, t.name, t.count, t.first_at, t.last_at FROM unnest($4::text[]) AS q(user_id)
        CROSS JOIN LATERAL (
            SELECT t.* FROM gateway.user_tally t
            WHERE t.tenant_id = $1 AND t.app_id = $2 AND t.vendor = $3 AND t.user_id = q.user_id
            ORDER BY t.last_at DESC, t.kind, t.name LIMIT $5) AS t
        ORDER BY t.user_id, t.kind, t.name
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql.with(call.owner(scope) + [.strings(users.map(\.rawValue)), .int(max(0, limit))])
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> [UsersOwn<ActTally>] {
        try result.rows { (row) throws(PostgresError) in
            let tally = ActTally(
                kind: try row.word("kind"),
                name: try row.text("name"),
                count: try row.int("count"),
                firstAt: try row.time("first_at"),
                lastAt: try row.time("last_at")
            )
            return UsersOwn(user: try row.id("user_id"), value: tally)
        }
    }
}
