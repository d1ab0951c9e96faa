package import Model
package import PostgresClient

/// Returns the sender with the given name, or creates it with the given id.
package struct RegisterSender: StoreWrite {
    let scope: AppScope
    let name: String
    let id: SenderID

    package init(_ scope: AppScope, name: String, id: SenderID) {
        self.scope = scope
        self.name = name
        self.id = id
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.tenant(
        """
        INSERT INTO gateway.sender (tenant_id, app_id, vendor, name, sender_id) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (tenant_id, app_id, vendor, name) DO UPDATE SET name = excluded.name
        RETURNING \(SenderFacts.columns)
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(scope.app), .id(scope.vendor), .string(name), .id(id))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> SenderFacts {
        guard let sender = try SenderFacts.read(result) else { throw PostgresError(.unexpectedRowCount) }
        return sender
    }
}
