import PostgresClient

/// The schema version and checksums that a database has recorded.
struct SchemaState: Sendable {
    struct Applied: Sendable {
        var version: Int
        var name: String
        var checksum: String
        /// Null in rows that are older than the baseline.
        var oldestProgram: Int?
        /// The first step that is not finished; nil when the migration is complete.
        var nextStep: Int?
    }

    /// In the order of the versions. Empty: the database is new.
    var applied: [Applied] = []

    /// The checksums of the routine files, by name.
    var routines: [String: String] = [:]

    var version: Int { applied.last?.version ?? 0 }

    /// Reads the state. Changes nothing.
    static func read(_ session: PostgresConnection) async throws(PostgresError) -> SchemaState {
        var state = SchemaState()
        let exists = Statement(
            """
            SELECT to_regclass('gateway.schema_version') IS NOT NULL AS has_versions,
                to_regclass('gateway.schema_routine') IS NOT NULL AS has_routines
            """
        )
        guard let found = try await session.rows(exists).first, try found.bool("has_versions") else { return state }
        // Read as JSON, because a database older than the baseline lacks the last two columns.
        let versions = Statement(
            """
            SELECT v.version, v.name, v.checksum, (to_jsonb(v)->>'oldest_program')::integer AS oldest_program,
                (to_jsonb(v)->>'next_step')::integer AS next_step
            FROM gateway.schema_version v ORDER BY v.version
            """
        )
        for row in try await session.rows(versions) {
            state.applied.append(
                Applied(
                    version: try row.int("version"),
                    name: try row.text("name"),
                    checksum: try row.text("checksum"),
                    oldestProgram: try row.optionalInt("oldest_program"),
                    nextStep: try row.optionalInt("next_step")
                )
            )
        }
        guard try found.bool("has_routines") else { return state }
        for row in try await session.rows(Statement("SELECT name, checksum FROM gateway.schema_routine")) {
            state.routines[try row.text("name")] = try row.text("checksum")
        }
        return state
    }
}

/// The difference between a database and this program's schema files.
package struct MigrationStatus: Sendable {
    /// The newest migration of the database; 0 for a new database.
    package var databaseVersion: Int
    /// The version that this program is built for.
    package var programVersion: Int
    /// A program runs on the schema only if it was built for at least this version.
    package var oldestProgram: Int
    /// Migrations that were not applied.
    package var pending: [Migration]
    /// Migrations whose later steps are not finished.
    package var unfinished: [Migration]
    /// Routines whose files differ from those that the database has run. Empty when the schema is newer than the program.
    package var changedRoutines: [String]

    /// The reason why the program cannot use the database, as a sentence. Nil when it can: it needs no migration, or is older than the schema and still served
    /// by it.
    package var obstacle: String? {
        if !pending.isEmpty {
            return "the schema is at version \(databaseVersion), this program needs \(programVersion)"
        }
        if let migration = unfinished.first {
            return "migration \(migration.version) (\(migration.name)) is not finished"
        }
        if !changedRoutines.isEmpty {
            return "\(changedRoutines.count) routines of the schema differ from those of this program"
        }
        return nil
    }
}

extension PostgresConnection {
    /// The rows of one statement that belongs to no tenant.
    nonisolated func rows(_ statement: Statement) async throws(PostgresError) -> ResultSet {
        try await run(Transaction(tenant: nil, [statement])).first ?? .empty
    }
}
