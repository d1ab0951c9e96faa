package import Model
package import PostgresClient

/// Returns the members of a group, or the member with the given id, ordered by id. Nil: the group does not exist.
package struct ListMembers: StoreRead {
    let scope: AppScope
    let name: GroupName
    let user: UserID?
    let limit: Int

    package init(_ scope: AppScope, _ name: GroupName, _ user: UserID?, limit: Int) {
        self.scope = scope
        self.name = name
        self.user = user
        self.limit = limit
    }

    /// Returns one row without a user if the group exists and has no such member.
    private static let sql = StoreSQL.tenant(
        """
        SELECT g.group_name, coalesce(g.title, '') AS title, m.user_id,
            (SELECT i.name FROM gateway.identity i
                WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.user_id = m.user_id AND i.state = 'active'
                ORDER BY i.registered_at DESC LIMIT 1) AS name
        FROM gateway.user_group g
        LEFT JOIN gateway.group_member m ON m.tenant_id = $1 AND m.app_id = $2 AND m.vendor = $3
            AND m.group_name = g.group_name AND ($5::text IS NULL OR m.user_id = $5)
        WHERE g.tenant_id = $1 AND g.app_id = $2 AND g.vendor = $3 AND g.group_name = $4
        ORDER BY m.user_id LIMIT $6
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(scope.app), .id(scope.vendor), .id(name), .id(user), .int(max(0, limit)))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> [GroupMember]? {
        guard !result.isEmpty else { return nil }
        var members: [GroupMember] = []
        for row in result {
            guard let user: UserID = try row.optionalID("user_id") else { continue }
            let group = try ListTitledGroups.group(row)
            members.append(GroupMember(group: group, user: user, name: try row.optionalText("name")))
        }
        return members
    }
}
