package import Model
package import PostgresClient

/// Stores a campaign under its id, with a row of the audit if an actor is given. Returns whether it is new. Nil: the app has `limit` campaigns already.
package struct PutCampaign: StoreWrite {
    let scope: AppScope
    let id: String
    let name: String
    let body: JSONObject
    let limit: Int
    let actor: String?

    package init(_ scope: AppScope, id: String, name: String, body: JSONObject, limit: Int, by actor: String?) {
        self.scope = scope
        self.id = id
        self.name = name
        self.body = body
        self.limit = limit
        self.actor = actor
    }

    package var isAuditedBySchema: Bool { true }

    private static let sql = StoreSQL.function("put_campaign", 8, columns: "put_campaign AS is_new")

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql.with(
            call.owner(scope) + [
                .string(id), .string(name), .string(DocumentText.of(body)), .int(limit), .string(actor),
            ]
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Bool? { try result.only().optionalBool("is_new") }
}
