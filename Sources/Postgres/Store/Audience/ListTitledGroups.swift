package import Model
package import PostgresClient

/// Returns the groups of an app with their titles, or the group with the given name, ordered by number.
package struct ListTitledGroups: StoreRead {
    let scope: AppScope
    let name: GroupName?
    let limit: Int

    package init(_ scope: AppScope, _ name: GroupName?, limit: Int) {
        self.scope = scope
        self.name = name
        self.limit = limit
    }

    private static let sql = StoreSQL.tenant(
        """
        SELECT g.group_name, coalesce(g.title, '') AS title FROM gateway.user_group g
        WHERE g.tenant_id = $1 AND g.app_id = $2 AND g.vendor = $3 AND ($4::text IS NULL OR g.group_name = $4)
        ORDER BY length(g.group_name), g.group_name LIMIT $5
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(scope.app), .id(scope.vendor), .id(name), .int(max(0, limit)))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> [TitledGroup] { try result.rows(Self.group) }

    static func group(_ row: Row) throws(PostgresError) -> TitledGroup {
        TitledGroup(name: try row.id("group_name"), title: try row.text("title"))
    }
}
