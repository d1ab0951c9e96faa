package import Model
package import PostgresClient

/// Finds the image of the message with the given number in the dialect, if the message's data contain the given owner.
package struct FindOwnMedia: StoreRead {
    let scope: AppScope
    let number: String
    let owner: String

    package init(_ scope: AppScope, number: String, owner: String) {
        self.scope = scope
        self.number = number
        self.owner = owner
    }

    private static let sql = StoreSQL.tenant(
        """
        SELECT b.bytes, b.content_type FROM gateway.message_ref r
        JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = r.message_id
        JOIN gateway.message_media l ON l.tenant_id = $1 AND l.message_id = r.message_id
        JOIN gateway.media b ON b.tenant_id = $1 AND b.hash = l.hash
        WHERE r.tenant_id = $1 AND r.app_id = $2 AND r.vendor = $3 AND r.ref = $4 AND m.content->'data'->>'owner' = $5 LIMIT 1
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(scope.app), .id(scope.vendor), .string(number), .string(owner))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> StoredMedia? { try StoredMedia.read(result) }
}
