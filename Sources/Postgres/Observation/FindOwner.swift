package import Model
package import PostgresClient
package import Store

/// Finds the side that sent a message, by the message's name in the dialect or by its own id.
package struct FindOwner: StoreRead {
    let scope: AppScope
    let reference: String

    package init(_ scope: AppScope, _ reference: String) {
        self.scope = scope
        self.reference = reference
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.function("message_owner", 4, columns: "owner, is_paid")

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(scope.app), .id(scope.vendor), .string(reference))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> MessageOwner {
        guard let row = result.first else { return .unknown }
        guard let owner = try row.optionalText("owner") else { return .gateway }
        return .upstream(CredentialID(owner), hasPaidFallback: try row.bool("is_paid"))
    }
}
