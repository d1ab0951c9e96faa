package import Model
package import PostgresClient
package import Store

/// A message that the gateway has sent through an upstream.
package struct CalledMessage: Sendable, Hashable {
    package var id: MessageID
    package var app: AppID
}

/// Finds messages by the names that an upstream gave them when it answered their calls. Names without a message are missing.
package struct FindCalledMessages: StoreRead {
    let upstream: CredentialID
    let references: [String]

    /// - Parameters:
    ///   - upstream: the credential through which they were sent.
    ///   - references: each once.
    package init(_ upstream: CredentialID, _ references: [String]) {
        self.upstream = upstream
        self.references = references
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.tenant(
        """
        SELECT t.reference, c.message_id, m.app_id FROM unnest($3::text[]) AS t(reference)
        CROSS JOIN LATERAL (
            SELECT u.message_id FROM gateway.upstream_call u
            WHERE u.tenant_id = $1 AND u.upstream = $2 AND u.reference = t.reference LIMIT 1) AS c
        JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = c.message_id
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(upstream), .strings(references))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> [String: CalledMessage] {
        var messages: [String: CalledMessage] = [:]
        for row in result {
            messages[try row.text("reference")] = CalledMessage(id: try row.id("message_id"), app: try row.id("app_id"))
        }
        return messages
    }
}
