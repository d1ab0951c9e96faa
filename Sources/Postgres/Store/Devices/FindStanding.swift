package import Model
package import PostgresClient

/// Finds the state, token, user and attributes of the identity of a key.
package struct FindStanding: StoreRead {
    let scope: AppScope
    let key: VendorDeviceKey

    package init(_ scope: AppScope, key: VendorDeviceKey) {
        self.scope = scope
        self.key = key
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.tenant(
        """
        SELECT i.state, i.user_id, i.attributes, d.token, coalesce(d.token_state, 'none') AS token_state
        FROM gateway.identity i
        LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
        WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.key = $4
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(scope.app), .id(scope.vendor), .id(key))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> IdentityStanding? {
        guard let row = result.first else { return nil }
        return try Self.standing(row)
    }

    static func standing(_ row: Row) throws(PostgresError) -> IdentityStanding {
        IdentityStanding(
            state: try row.word("state"),
            token: try row.optionalText("token").map { DeviceToken(stored: $0) },
            user: try row.optionalID("user_id"),
            tokenState: try row.word("token_state"),
            attributes: try row.object("attributes")
        )
    }
}
