package import Model
package import PostgresClient

/// Returns the active devices of users, at most `limit` per user.
package struct ListUserDevices: StoreRead {
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
        SELECT r.* FROM unnest($4::text[]) AS q(user_id)
        CROSS JOIN LATERAL (
            SELECT i.user_id, i.key, d.platform, i.attributes,
                i.accepts_push AND i.denies_push IS NOT TRUE AS accepts_push,
                CASE WHEN d.token_state = 'active' THEN d.token END AS token
            FROM gateway.identity i JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
            WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.user_id = q.user_id AND i.state = 'active'
            ORDER BY i.key LIMIT $5) AS r
        ORDER BY r.user_id, r.key
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql.with(call.owner(scope) + [.strings(users.map(\.rawValue)), .int(max(0, limit))])
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> [UsersOwn<UserDevice>] {
        try result.rows { (row) throws(PostgresError) in
            let device = UserDevice(
                key: try row.id("key"),
                platform: try row.word("platform"),
                token: try row.optionalText("token").map { DeviceToken(stored: $0) },
                acceptsPush: try row.bool("accepts_push"),
                attributes: try row.object("attributes")
            )
            return UsersOwn(user: try row.id("user_id"), value: device)
        }
    }
}
