package import Model
package import PostgresClient

/// Returns active identities with a usable token, ordered by key.
package struct ListIdentities: StoreRead {
    let scope: AppScope
    let filter: IdentityFilter
    let from: VendorDeviceKey?
    let limit: Int

    package init(_ scope: AppScope, _ filter: IdentityFilter, from: VendorDeviceKey?, limit: Int) {
        self.scope = scope
        self.filter = filter
        self.from = from
        self.limit = limit
    }

    private static let all = sql("")
    private static let byToken = sql(
        "AND d.app_id = $2 AND d.platform IN ('ios', 'android') AND d.token_digest = md5($6) AND d.token = $6"
    )
    private static let byTag = sql(
        """
        AND i.identity_id IN (SELECT t.identity_id FROM gateway.identity_tag t
            WHERE t.tenant_id = $1 AND t.app_id = $2 AND t.vendor = $3 AND t.tag = ANY ($6))
        """
    )

    private static func sql(_ condition: String) -> StoreSQL {
        StoreSQL.tenant(
            """
            SELECT i.key, i.state, i.user_id, i.attributes, d.token, d.token_state
            FROM gateway.identity i
            JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
            WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.key >= $4 AND i.state = 'active'
                AND d.token_state = 'active' \(condition)
            ORDER BY i.key LIMIT $5
            """
        )
    }

    package func statement(_ call: StoreCall) -> Statement {
        let parameters = call.owner(scope) + [.string(from?.rawValue ?? ""), .int(limit)]
        return switch filter {
        case .all: Self.all.with(parameters)
        case .token(let token): Self.byToken.with(parameters + [.string(token.text)])
        case .tag(let tag): Self.byTag.with(parameters + [.tags([tag, .ofVariant(tag)])])
        }
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> [ListedIdentity] {
        try result.rows { (row) throws(PostgresError) in
            ListedIdentity(key: try row.id("key"), standing: try FindStanding.standing(row))
        }
    }
}
