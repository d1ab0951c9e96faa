package import PostgresClient

/// The three database roles of the gateway.
package enum GatewayRole: String, Sendable, CaseIterable {
    /// Owns the schema. No running process logs in as this role; migrations assume it.
    case owner = "gateway_owner"
    /// The role of calls. Row-level security applies.
    case call = "gateway_call"
    /// The role of the delivery engine and the scheduler. Row-level security does not apply.
    case engine = "gateway_engine"
}

/// Creates the objects that must exist before the first migration. Idempotent, and safe when two nodes do it at once.
package enum Bootstrap {
    /// Creates the roles and the schema.
    ///
    /// - Throws: `insufficientPrivilege` unless the session may create roles, BYPASSRLS included (a superuser).
    package static func prepare(_ admin: PostgresConnection) async throws(PostgresError) {
        let roles = GatewayRole.allCases.map(creation(of:)).joined(separator: "\n")
        // The lock is needed because two concurrent GRANTs on one schema fail with "tuple concurrently updated".
        try await admin.script(
            "BEGIN; SELECT pg_advisory_xact_lock(\(Migrator.lockKey + 1));\n\(roles)\n\(schema)\n\(statistics)\nCOMMIT;"
        )
    }

    private static func creation(of role: GatewayRole) -> String {
        let attributes =
            switch role {
            case .owner: "NOLOGIN NOSUPERUSER NOBYPASSRLS"
            case .call: "LOGIN NOSUPERUSER NOBYPASSRLS"
            case .engine: "LOGIN NOSUPERUSER BYPASSRLS"
            }
        // Roles belong to the whole server, but the lock to one database. Both errors mean that the role exists.
        return """
            DO $$ BEGIN
                IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = '\(role.rawValue)') THEN
                    CREATE ROLE \(role.rawValue) \(attributes);
                END IF;
            EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
            END $$;
            """
    }

    /// CREATE on the database stays with the administrator: the owner creates tables, not schemas.
    private static let schema = """
        CREATE SCHEMA IF NOT EXISTS gateway AUTHORIZATION gateway_owner;
        GRANT USAGE ON SCHEMA gateway TO gateway_call, gateway_engine;
        """

    /// Allows the engine to see the age of all sessions' transactions, for the metrics. If the administrator may not grant this, only
    /// `database_sees_all_sessions` is affected: it is 0.
    private static let statistics = """
        DO $$ BEGIN
            IF NOT pg_catalog.pg_has_role('gateway_engine', 'pg_read_all_stats', 'USAGE') THEN
                GRANT pg_read_all_stats TO gateway_engine;
            END IF;
        EXCEPTION WHEN insufficient_privilege OR unique_violation THEN NULL;
        END $$;
        """
}
