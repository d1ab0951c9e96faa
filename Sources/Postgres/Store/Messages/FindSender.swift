package import Model
package import PostgresClient

/// Finds a sender by its id. Nil when it is unknown.
package struct FindSender: StoreRead {
    let scope: AppScope
    let id: SenderID

    package init(_ scope: AppScope, _ id: SenderID) {
        self.scope = scope
        self.id = id
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.tenant(
        """
        SELECT \(SenderFacts.columns) FROM gateway.sender
        WHERE tenant_id = $1 AND app_id = $2 AND vendor = $3 AND sender_id = $4
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(scope.app), .id(scope.vendor), .id(id))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> SenderFacts? { try SenderFacts.read(result) }
}
