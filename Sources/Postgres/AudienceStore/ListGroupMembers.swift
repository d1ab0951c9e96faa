package import Model
package import PostgresClient
package import Store

/// A member of a group, with the facts of the user's newest registration.
package struct ListedMember: Sendable, Hashable {
    package var user: UserID
    package var name: String?
    package var phone: String?
    /// Whether an app is registered for the user now.
    package var isRegistered: Bool
}

/// Returns the members of a group after an id, in the order of their ids.
///
/// Of each user the ten newest identities are looked at: an app may give every installation the user "guest".
package struct ListGroupMembers: StoreRead {
    let scope: AppScope
    let group: GroupName
    let after: UserID?
    let limit: Int

    package init(_ scope: AppScope, _ group: GroupName, after: UserID?, limit: Int) {
        self.scope = scope
        self.group = group
        self.after = after
        self.limit = limit
    }

    private static let sql = StoreSQL.tenant(
        """
        SELECT m.user_id, f.name, f.phone, f.user_id IS NOT NULL AS is_registered
        FROM (
            SELECT g.user_id FROM gateway.group_member g
            WHERE g.tenant_id = $1 AND g.app_id = $2 AND g.vendor = $3 AND g.group_name = $4 AND g.user_id > $5
            ORDER BY g.user_id LIMIT $6) m
        LEFT JOIN LATERAL (
            SELECT x.user_id, x.name, x.phone FROM (
                SELECT i.user_id, i.name, i.phone, i.state, i.device_id, i.registered_at FROM gateway.identity i
                WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.user_id = m.user_id AND i.vendor = $3
                ORDER BY i.identity_id DESC LIMIT 10) x
            WHERE x.state = 'active' AND x.device_id IS NOT NULL
            ORDER BY x.registered_at DESC LIMIT 1) f ON true
        ORDER BY m.user_id
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(
            .id(call.tenant),
            .id(scope.app),
            .id(scope.vendor),
            .id(group),
            .string(after?.rawValue ?? ""),
            .int(max(0, limit))
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> [ListedMember] {
        try result.rows { (row) throws(PostgresError) in
            ListedMember(
                user: try row.id("user_id"),
                name: try row.optionalText("name"),
                phone: try row.optionalText("phone"),
                isRegistered: try row.bool("is_registered")
            )
        }
    }
}
