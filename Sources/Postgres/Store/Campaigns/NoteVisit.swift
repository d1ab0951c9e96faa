package import Model
package import PostgresClient

/// Records when a user last visited because of a campaign. Only the newest visit of a known user is kept. Returns the number of recorded visits: 0 or 1.
package struct NoteVisit: StoreWrite {
    let scope: AppScope
    let user: UserID
    let campaign: String?
    let at: Timestamp

    package init(_ scope: AppScope, _ user: UserID, campaign: String?, at: Timestamp) {
        self.scope = scope
        self.user = user
        self.campaign = campaign
        self.at = at
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.tenant(
        """
        INSERT INTO gateway.campaign_mark AS c (tenant_id, app_id, vendor, user_id, campaign, at)
        SELECT $1, $2, $3, $4, $5, $6 WHERE EXISTS (
            SELECT FROM gateway.identity i WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.user_id = $4)
        ON CONFLICT (tenant_id, app_id, vendor, user_id, campaign) DO UPDATE SET at = greatest(c.at, excluded.at)
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(scope.app), .id(scope.vendor), .id(user), .string(campaign ?? ""), .time(at))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Int { result.affectedRows }
}
