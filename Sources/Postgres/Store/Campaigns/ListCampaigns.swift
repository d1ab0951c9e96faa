package import Model
package import PostgresClient

/// Returns the campaigns after an id, in byte order of their ids.
package struct ListCampaigns: StoreRead {
    let scope: AppScope
    let after: String?
    let limit: Int

    package init(_ scope: AppScope, after: String?, limit: Int) {
        self.scope = scope
        self.after = after
        self.limit = limit
    }

    private static let sql = StoreSQL.tenant(
        """
        SELECT \(Campaign.columns) FROM gateway.campaign c
        WHERE c.tenant_id = $1 AND c.app_id = $2 AND c.vendor = $3 AND ($4::text IS NULL OR c.campaign_id COLLATE "C" > $4)
        ORDER BY c.campaign_id COLLATE "C" LIMIT $5
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql.with(call.owner(scope) + [.string(after), .int(limit)])
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> [Campaign] { try result.rows(Campaign.read) }
}
