package import PostgresClient

/// The three roles of the data (design §6).
package enum GatewayRole: String, Sendable, CaseIterable {
    /// Owns the schema. No running process logs in as it; migrations take its place.
    case owner = "gateway_owner"
    /// What a call runs as: row-level security applies.
    case call = "gateway_call"
    /// What the delivery engine and the scheduler run as: row-level security does not apply.
    case engine = "gateway_engine"
}

/// What must exist before the first migration. Idempotent, and safe when two nodes do it at once.
package enum Bootstrap {
    /// Creates the roles and the schema.
    ///
    /// - Throws: `insufficientPrivilege` unless the session may create roles, BYPASSRLS included (a superuser).
    package static func prepare(_ admin: PostgresConnection) async throws(PostgresError) {
        let roles = GatewayRole.allCases.map(creation(of:)).joined(separator: "\n")
        // The lock, because two GRANTs on one schema at once end in "tuple concurrently updated".
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
        // Roles are the whole server's, the lock is the database's: both errors mean that the role is there.
        return """
            DO $$ BEGIN
                IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = '\(role.rawValue)') THEN
                    CREATE ROLE \(role.rawValue) \(attributes);
                END IF;
            EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
            END $$;
            """
    }

    /// CREATE on the database stays with the admin: the owner makes tables, not schemas.
    private static let schema = """
        CREATE SCHEMA IF NOT EXISTS gateway AUTHORIZATION gateway_owner;
        GRANT USAGE ON SCHEMA gateway TO gateway_call, gateway_engine;
        """

    /// Lets the engine see how old everybody's transactions are, for the metrics. An administrator who may not grant it loses only that:
    /// `database_sees_all_sessions` is 0 then.
    private static let statistics = """
        DO $$ BEGIN
            IF NOT pg_catalog.pg_has_role('gateway_engine', 'pg_read_all_stats', 'USAGE') THEN
                GRANT pg_read_all_stats TO gateway_engine;
            END IF;
        EXCEPTION WHEN insufficient_privilege OR unique_violation THEN NULL;
        END $$;
        """
}

extension PostgresConfiguration {
    /// The same database as another role, for an administrator whose login may take it (SET ROLE at connection).
    package func asRole(_ role: GatewayRole) -> PostgresConfiguration {
        var configuration = self
        configuration.settings["role"] = role.rawValue
        return configuration
    }
}
