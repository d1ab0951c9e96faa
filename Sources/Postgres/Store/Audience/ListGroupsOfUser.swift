package import Model
package import PostgresClient

/// Returns the groups of a user with their counts, ordered by name.
package struct ListGroupsOfUser: StoreRead {
    let scope: AppScope
    let user: UserID
    let limit: Int

    package init(_ scope: AppScope, _ user: UserID, limit: Int) {
        self.scope = scope
        self.user = user
        self.limit = limit
    }

    private static let sql = StoreSQL.tenant(
        """
        SELECT g.group_name, g.created_at,
            (SELECT coalesce(sum(c.members), 0)::bigint FROM gateway.group_count c
                WHERE c.tenant_id = $1 AND c.app_id = $2 AND c.vendor = $3 AND c.group_name = g.group_name) AS members
        FROM gateway.group_member m
        JOIN gateway.user_group g ON g.tenant_id = $1 AND g.app_id = $2 AND g.vendor = $3 AND g.group_name = m.group_name
        WHERE m.tenant_id = $1 AND m.app_id = $2 AND m.vendor = $3 AND m.user_id = $4
        ORDER BY g.group_name LIMIT $5
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql.with(call.owner(scope) + [.id(user), .int(limit)])
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> [GroupFacts] { try result.rows(FindGroups.facts) }
}
