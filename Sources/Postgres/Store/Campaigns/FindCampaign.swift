package import Model
package import PostgresClient

/// Finds a campaign by its id.
package struct FindCampaign: StoreRead {
    let scope: AppScope
    let id: String

    package init(_ scope: AppScope, id: String) {
        self.scope = scope
        self.id = id
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.tenant(
        """
        SELECT \(Campaign.columns) FROM gateway.campaign c
        WHERE c.tenant_id = $1 AND c.app_id = $2 AND c.vendor = $3 AND c.campaign_id = $4
        """
    )

    package func statement(_ call: StoreCall) -> Statement { Self.sql.with(call.owner(scope) + [.string(id)]) }

    package func read(_ result: ResultSet) throws(PostgresError) -> Campaign? { try result.rows(Campaign.read).first }
}

extension Campaign {
    /// The columns that `read` needs, of `campaign c`.
    static let columns = "c.campaign_id, c.name, c.body, c.created_at, c.updated_at"

    static func read(_ row: Row) throws(PostgresError) -> Campaign {
        Campaign(
            id: try row.text("campaign_id"),
            name: try row.text("name"),
            body: try row.object("body"),
            createdAt: try row.time("created_at"),
            updatedAt: try row.time("updated_at")
        )
    }
}
