package import Model
package import PostgresClient
package import Store

/// Finds the rows of an export among the active identities, and where the two differ. Rows that are not stored have no answer. A value that a row does not state
/// does not differ.
package struct CompareDevices: StoreRead {
    let scope: AppScope
    let rows: [DeviceRegistration]

    /// - Parameters:
    ///   - rows: the rows of the export.
    ///   - scope: the app, and the dialect of the identities.
    package init(_ rows: [DeviceRegistration], _ scope: AppScope) {
        self.scope = scope
        self.rows = rows
    }

    /// A row whose key was derived from its token is about the identity that has the token.
    private static let sql = StoreSQL.tenant(
        """
        SELECT u.place, i.identity_id,
            coalesce(u.token IS NOT NULL AND (u.token IS DISTINCT FROM d.token OR d.token_state <> 'active'), true) AS token_differs,
            u.user_id IS NOT NULL AND u.user_id IS DISTINCT FROM i.user_id AS user_differs,
            u.accepts IS NOT NULL AND u.accepts IS DISTINCT FROM i.accepts_push AS push_differs,
            coalesce(u.registered > i.registered_at, false) AS is_newer
        FROM unnest($4::text[], $5::text[], $6::text[], $7::boolean[], $8::timestamptz[], $9::text[]) WITH ORDINALITY
            AS u(key, token, user_id, accepts, registered, platform, place)
        LEFT JOIN LATERAL (
            SELECT x.key FROM gateway.device y
            JOIN gateway.identity x ON x.tenant_id = $1 AND x.device_id = y.device_id AND x.app_id = $2 AND x.vendor = $3
                AND x.state = 'active'
            WHERE u.key LIKE 'token-%' AND y.tenant_id = $1 AND y.app_id = $2 AND y.platform = u.platform
                AND y.token_digest = md5(u.token) AND y.token = u.token
            ORDER BY y.token_registered_at DESC, x.identity_id LIMIT 1) AS h ON true
        CROSS JOIN LATERAL (SELECT coalesce(h.key, u.key) AS key OFFSET 0) AS k
        JOIN gateway.identity i ON i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.key = k.key AND i.state = 'active'
        LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql.with(
            call.owner(scope) + [
                .strings(rows.map { $0.key?.rawValue }), .strings(rows.map { $0.token?.text }),
                .strings(rows.map { $0.user?.rawValue }), .bools(rows.map(\.imported.acceptsPush)),
                .times(rows.map(\.imported.registeredAt)), .strings(rows.map(\.platform.rawValue)),
            ]
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> [ComparedDevice] {
        try result.rows { (row) throws(PostgresError) in
            ComparedDevice(
                place: try row.int("place") - 1,
                identity: try row.id("identity_id"),
                tokenDiffers: try row.bool("token_differs"),
                userDiffers: try row.bool("user_differs"),
                pushDiffers: try row.bool("push_differs"),
                isNewer: try row.bool("is_newer")
            )
        }
    }
}
