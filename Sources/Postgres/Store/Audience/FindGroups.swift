package import Model
package import PostgresClient

/// Returns the named groups that exist, ordered by name.
package struct FindGroups: StoreRead {
    let scope: AppScope
    let names: [GroupName]

    package init(_ scope: AppScope, _ names: [GroupName]) {
        self.scope = scope
        self.names = names
    }

    private static let sql = StoreSQL.tenant(
        """
        SELECT g.group_name, g.created_at,
            (SELECT coalesce(sum(c.members), 0)::bigint FROM gateway.group_count c
                WHERE c.tenant_id = $1 AND c.app_id = $2 AND c.vendor = $3 AND c.group_name = g.group_name) AS members
        FROM gateway.user_group g
        WHERE g.tenant_id = $1 AND g.app_id = $2 AND g.vendor = $3 AND g.group_name = ANY ($4::text[]) ORDER BY g.group_name
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(scope.app), .id(scope.vendor), .strings(names.map(\.rawValue)))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> [GroupFacts] {
        try result.rows(Self.facts)
    }

    static func facts(_ row: Row) throws(PostgresError) -> GroupFacts {
        GroupFacts(
            name: try row.id("group_name"),
            memberCount: try row.int("members"),
            createdAt: try row.time("created_at")
        )
    }
}
