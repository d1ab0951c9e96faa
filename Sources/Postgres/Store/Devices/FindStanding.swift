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

    /// Finds the standing of many keys; a row without a state for an unknown one.
    private static let set = StoreSQL.tenant(
        """
        SELECT i.state, u.o AS ordinal, i.user_id, i.attributes, d.token, coalesce(d.token_state, 'none') AS token_state
        FROM unnest($4::text[]) WITH ORDINALITY AS u(key, o)
        LEFT JOIN LATERAL (
            SELECT x.state, x.user_id, x.attributes, x.device_id FROM gateway.identity x
            WHERE x.tenant_id = $1 AND x.app_id = $2 AND x.vendor = $3 AND x.key = u.key OFFSET 0) i ON true
        LEFT JOIN LATERAL (
            SELECT y.token, y.token_state FROM gateway.device y
            WHERE y.tenant_id = $1 AND y.device_id = i.device_id OFFSET 0) d ON true
        ORDER BY u.o
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.set.with(call.owner(scope) + [.texts([key.rawValue])])
    }

    package func batch(_ call: StoreCall) -> StatementBatch? {
        StatementBatch(sql: Self.set, shared: call.owner(scope), row: [.id(key)])
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> IdentityStanding? {
        guard let row = result.first, try !row.isNull("state") else { return nil }
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
