package import Model
package import PostgresClient

/// Erases a user with all its devices, in every app and dialect, and writes a row of the audit. Answers with the number of identities.
package struct EraseUserEverywhere: StoreWrite {
    let user: UserID
    let actor: String

    package init(_ user: UserID, by actor: String) {
        self.user = user
        self.actor = actor
    }

    package var isAuditedBySchema: Bool { true }

    private static let sql = StoreSQL.function("erase_user", 3, columns: "erase_user AS count")

    package func statement(_ call: StoreCall) -> Statement { Self.sql(.id(call.tenant), .id(user), .string(actor)) }

    package func read(_ result: ResultSet) throws(PostgresError) -> Int { try result.count() }
}
