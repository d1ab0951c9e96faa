package import Model
package import PostgresClient

/// Stores the template variables of a message for each user. Runs after its acceptance. Returns how many are stored afterwards.
package struct PutVariables: StoreWrite {
    let message: MessageID
    let variables: [UserVariables]

    package init(_ message: MessageID, _ variables: [UserVariables]) {
        self.message = message
        self.variables = variables
    }

    private static let sql = StoreSQL.tenant(
        """
        INSERT INTO gateway.message_variable (tenant_id, message_id, user_id, variables)
        SELECT $1, $2, u.id, u.variables::json FROM unnest($3::text[], $4::text[]) AS u(id, variables)
        ON CONFLICT DO NOTHING
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(
            .id(call.tenant),
            .id(message),
            .strings(variables.map(\.user.rawValue)),
            .strings(variables.map { DocumentText.of($0.values) })
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Int { result.affectedRows }
}
