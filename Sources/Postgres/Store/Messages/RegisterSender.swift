package import Model
package import PostgresClient

/// Returns the sender with the given name, or creates it with the given id. Nil when a proven caller registered the name and this caller is not proven.
package struct RegisterSender: StoreWrite {
    let scope: AppScope
    let name: String
    let id: SenderID
    let isProven: Bool

    package init(_ scope: AppScope, name: String, id: SenderID, isProven: Bool = false) {
        self.scope = scope
        self.name = name
        self.id = id
        self.isProven = isProven
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.tenant(
        """
        INSERT INTO gateway.sender AS s (tenant_id, app_id, vendor, name, sender_id, is_proven) VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (tenant_id, app_id, vendor, name) DO UPDATE SET is_proven = s.is_proven OR excluded.is_proven
        WHERE excluded.is_proven OR NOT s.is_proven
        RETURNING \(SenderFacts.columns)
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(scope.app), .id(scope.vendor), .string(name), .id(id), .bool(isProven))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> SenderFacts? { try SenderFacts.read(result) }
}
