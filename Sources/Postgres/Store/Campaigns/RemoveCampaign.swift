package import Model
package import PostgresClient

/// Removes a campaign, with a row of the audit if an actor is given. Returns the number of removed campaigns: 0 or 1.
package struct RemoveCampaign: StoreWrite {
    let scope: AppScope
    let id: String
    let actor: String?

    package init(_ scope: AppScope, id: String, by actor: String?) {
        self.scope = scope
        self.id = id
        self.actor = actor
    }

    package var isAuditedBySchema: Bool { true }

    private static let sql = StoreSQL.function("remove_campaign", 5, columns: "remove_campaign AS count")

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql.with(call.owner(scope) + [.string(id), .string(actor)])
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Int { try result.count() }
}
