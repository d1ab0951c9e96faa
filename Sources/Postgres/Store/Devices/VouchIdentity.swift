package import Model
package import PostgresClient

/// Confirms the user of an active identity, and writes a row of the audit. Answers whether there is such an identity, with that user if one is given.
package struct VouchIdentity: StoreWrite {
    let identity: IdentityID
    let user: UserID?
    let actor: AuditActor

    package init(_ identity: IdentityID, of user: UserID?, by actor: AuditActor) {
        self.identity = identity
        self.user = user
        self.actor = actor
    }

    package var isAuditedBySchema: Bool { true }

    private static let sql = StoreSQL.function("vouch_identity", 4, columns: "vouch_identity AS count")

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(identity), .id(user), .string(actor.description))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Bool { try result.count() > 0 }
}
