package import PostgresClient

extension PlanCheck {
    /// - Parameter admin: a session of a superuser, without a short limit for statements.
    package init(_ admin: PostgresConnection) {
        self.init { sql, columns in
            guard columns > 0 else {
                try await admin.script(sql)
                return []
            }
            let result = try await admin.run(Transaction(tenant: nil, [Statement(sql)])).first ?? .empty
            return try result.map { row in try (0..<columns).map { try row.optionalText(.index($0)) } }
        }
    }
}

extension PlanFill {
    /// Fills the database of a superuser's session.
    ///
    /// - Throws: `PostgresError`.
    package func run(_ admin: PostgresConnection, timeout: Duration) async throws(PostgresError) {
        for statement in statements { try await admin.script(statement, timeout: timeout) }
    }
}
