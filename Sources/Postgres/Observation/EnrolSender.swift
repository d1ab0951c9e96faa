package import Model
package import PostgresClient
package import Store

/// Sets the key of a sender unless it has one. Nil when the sender is unknown. The key is new and random: if the row contains it, this operation set it.
package struct EnrolSender: StoreWrite {
    let scope: AppScope
    let id: SenderID
    let key: String
    let name: String?
    let address: String?

    package init(_ scope: AppScope, _ id: SenderID, key: String, name: String?, address: String?) {
        self.scope = scope
        self.id = id
        self.key = key
        self.name = name
        self.address = address
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.tenant(
        """
        UPDATE gateway.sender SET enrolment_key = coalesce(enrolment_key, $5), enrolment_name = coalesce($6, enrolment_name),
            address = coalesce($7, address)
        WHERE tenant_id = $1 AND app_id = $2 AND vendor = $3 AND sender_id = $4
        RETURNING \(SenderFacts.columns)
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(
            .id(call.tenant),
            .id(scope.app),
            .id(scope.vendor),
            .id(id),
            .string(key),
            .string(name),
            .string(address)
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> SenderFacts? {
        guard var sender = try SenderFacts.read(result) else { return nil }
        sender.isNew = sender.enrolmentKey == key
        return sender
    }
}
