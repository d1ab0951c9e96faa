package import Model
package import PostgresClient

/// Returns those of the given tokens that an active identity has.
package struct FindKnownTokens: StoreRead {
    let scope: AppScope
    let tokens: [DeviceToken]

    package init(_ scope: AppScope, _ tokens: [DeviceToken]) {
        self.scope = scope
        self.tokens = tokens
    }

    private static let sql = StoreSQL.tenant(
        """
        SELECT q.token FROM unnest($4::text[]) AS q(token)
        CROSS JOIN LATERAL (
            SELECT FROM gateway.device d JOIN gateway.identity i ON i.tenant_id = $1 AND i.device_id = d.device_id
            WHERE d.tenant_id = $1 AND d.app_id = $2 AND d.platform IN ('ios', 'android') AND d.token_digest = md5(q.token)
                AND d.token = q.token AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active'
                AND (i.ends_at IS NULL OR i.ends_at > now()) LIMIT 1) AS r
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql.with(call.owner(scope) + [.strings(tokens.map(\.text))])
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Set<DeviceToken> {
        Set(try result.rows { (row) throws(PostgresError) in DeviceToken(stored: try row.text("token")) })
    }
}
