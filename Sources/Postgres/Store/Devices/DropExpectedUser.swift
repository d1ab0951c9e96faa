package import Model
package import PostgresClient

/// Ends the expectation of a user, and writes a row of the audit. Answers whether there was one.
package struct DropExpectedUser: StoreWrite {
    let app: AppID
    let user: UserID
    let actor: AuditActor

    package init(_ app: AppID, _ user: UserID, by actor: AuditActor) {
        self.app = app
        self.user = user
        self.actor = actor
    }

    package var isAuditedBySchema: Bool { true }

    private static let sql = StoreSQL.function("drop_expected_user", 4, columns: "drop_expected_user AS count")

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(app), .id(user), .string(actor.description))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Bool { try result.count() > 0 }
}
