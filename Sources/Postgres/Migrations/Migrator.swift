/// Brings a database's schema to this program's version: forward only, one node at a time, each file on its own.
///
/// The session must be a superuser's, or of a role that may take `gateway_owner`'s place.
package struct Migrator: Sendable {
    /// The advisory lock that keeps nodes apart. Any fixed number does; this one spells "gatewaym".
    static let lockKey: Int64 = 0x6761_7465_7761_796D

    /// How long to wait for another node's migration.
    private static let lockPatience: Duration = .seconds(300)

    /// How long one file may take. A backfill that needs more belongs into the program's own background work.
    private static let fileTimeout: Duration = .seconds(3600)

    /// In order.
    package let migrations: [Migration]

    /// - Throws: `badFiles` unless the versions are 1, 2, 3 … in this order.
    package init(migrations: [Migration]) throws(MigrationError) {
        for (index, migration) in migrations.enumerated() where migration.version != index + 1 {
            throw MigrationError(.badFiles("number \(migration.version) where \(index + 1) should be"))
        }
        self.migrations = migrations
    }

    /// With the files that were built with the program.
    ///
    /// - Throws: `badFiles`.
    package static func bundled() throws(MigrationError) -> Migrator {
        try Migrator(migrations: Migration.bundled())
    }

    /// Applies what is missing. Roles and schema must be there (`Bootstrap`).
    ///
    /// - Returns: what was applied now.
    /// - Throws: `MigrationError`; what was applied before the failure stands.
    package func migrate(_ admin: PostgresConnection, progress: @Sendable (String) -> Void = { _ in })
        async throws(MigrationError) -> [Migration]
    {
        try await lock(admin)
        let outcome = await migrateLocked(admin, progress: progress)
        // The lock dies with the session too, so a failure here harms nobody for long.
        _ = try? await admin.run(
            Transaction(tenant: nil, [Statement("SELECT pg_advisory_unlock($1)", [.int64(Self.lockKey)])])
        )
        return try outcome.get()
    }

    /// What the database has and what it lacks. Changes nothing.
    ///
    /// - Throws: `checksumMismatch`, `databaseTooNew`, `database`.
    package func status(_ admin: PostgresConnection) async throws(MigrationError) -> MigrationStatus {
        let applied = try await appliedMigrations(admin)
        try await check(applied, admin)
        return MigrationStatus(
            databaseVersion: applied.last?.version ?? 0,
            programVersion: migrations.count,
            pending: migrations.filter { $0.version > applied.count }
        )
    }

    // MARK: Steps

    private func migrateLocked(_ admin: PostgresConnection, progress: @Sendable (String) -> Void) async
        -> Result<[Migration], MigrationError>
    {
        do throws(MigrationError) {
            try await asking { () async throws(PostgresError) in try await admin.script(Self.versionTable) }
            let pending = try await status(admin).pending
            for migration in pending {
                progress("migration \(migration.version): \(migration.name)")
                try await apply(migration, admin)
            }
            return .success(pending)
        } catch {
            return .failure(error)
        }
    }

    private func apply(_ migration: Migration, _ admin: PostgresConnection) async throws(MigrationError) {
        do throws(PostgresError) {
            let name = try SQLText.literal(migration.name)
            let checksum = try await checksums(of: [migration], admin).first ?? ""
            try await admin.script(
                """
                BEGIN;
                -- First: Citus refuses a change of mode after the first multi-shard statement.
                SET LOCAL citus.multi_shard_modify_mode = 'sequential';
                SET LOCAL statement_timeout = 0;
                SET LOCAL idle_in_transaction_session_timeout = 0;
                SET LOCAL ROLE gateway_owner;
                SET LOCAL search_path = gateway, pg_catalog;
                \(migration.sql)
                ;
                INSERT INTO gateway.schema_version (version, name, checksum)
                VALUES (\(migration.version), \(name), \(try SQLText.literal(checksum)));
                COMMIT;
                """,
                timeout: Self.fileTimeout
            )
        } catch {
            throw MigrationError(.failed(version: migration.version, name: migration.name), underlying: error)
        }
    }

    private func lock(_ admin: PostgresConnection) async throws(MigrationError) {
        let deadline = ContinuousClock.now + Self.lockPatience
        let attempt = Transaction(
            tenant: nil,
            [Statement("SELECT pg_try_advisory_lock($1) AS held", [.int64(Self.lockKey)])]
        )
        while true {
            let isHeld = try await asking { () async throws(PostgresError) in
                try await admin.run(attempt).first?.only().bool("held") ?? false
            }
            if isHeld { return }
            guard ContinuousClock.now < deadline else { throw MigrationError(.locked) }
            // Asking again, not pg_advisory_lock: a waiting statement would hold a snapshot for minutes.
            do {
                try await Task.sleep(for: .milliseconds(200))
            } catch {
                throw MigrationError(.database, underlying: PostgresError(.cancelled))
            }
        }
    }

    private struct Applied {
        var version: Int
        var name: String
        var checksum: String
    }

    private func appliedMigrations(_ admin: PostgresConnection) async throws(MigrationError) -> [Applied] {
        try await asking { () async throws(PostgresError) in
            let exists = Statement("SELECT to_regclass('gateway.schema_version') IS NOT NULL AS found")
            guard try await admin.run(Transaction(tenant: nil, [exists])).first?.only().bool("found") == true else {
                return []
            }
            let all = Statement("SELECT version, name, checksum FROM gateway.schema_version ORDER BY version")
            var applied: [Applied] = []
            for row in try await admin.run(Transaction(tenant: nil, [all])).first ?? .empty {
                applied.append(
                    Applied(
                        version: try row.int("version"),
                        name: try row.text("name"),
                        checksum: try row.text("checksum")
                    )
                )
            }
            return applied
        }
    }

    private func check(_ applied: [Applied], _ admin: PostgresConnection) async throws(MigrationError) {
        if let last = applied.last, last.version > migrations.count {
            throw MigrationError(.databaseTooNew(databaseVersion: last.version, programVersion: migrations.count))
        }
        let known = Array(migrations.prefix(applied.count))
        let ours = try await asking { () async throws(PostgresError) in try await checksums(of: known, admin) }
        for (record, checksum) in zip(applied, ours) where record.checksum != checksum {
            throw MigrationError(.checksumMismatch(version: record.version, name: record.name))
        }
    }

    /// SHA-256 of the texts, reckoned by the server: one dependency less here.
    private func checksums(of migrations: [Migration], _ admin: PostgresConnection) async throws(PostgresError)
        -> [String]
    {
        let statement = Statement(
            "SELECT encode(sha256(body), 'hex') AS checksum FROM unnest($1) WITH ORDINALITY AS f (body, n) ORDER BY n",
            [.byteArrays(migrations.map { Array($0.sql.utf8) })]
        )
        var checksums: [String] = []
        for row in try await admin.run(Transaction(tenant: nil, [statement])).first ?? .empty {
            checksums.append(try row.text("checksum"))
        }
        return checksums
    }

    private func asking<Value>(_ body: () async throws(PostgresError) -> Value) async throws(MigrationError) -> Value {
        do throws(PostgresError) {
            return try await body()
        } catch {
            throw MigrationError(.database, underlying: error)
        }
    }

    /// Readable by the engine, for `database status`; a call has no business here.
    private static let versionTable = """
        BEGIN;
        SET LOCAL ROLE gateway_owner;
        CREATE TABLE IF NOT EXISTS gateway.schema_version (
            version integer PRIMARY KEY,
            name text NOT NULL,
            checksum text NOT NULL,
            applied_at timestamptz NOT NULL DEFAULT now()
        );
        GRANT SELECT ON gateway.schema_version TO gateway_engine;
        COMMIT;
        """
}

/// Where a database stands against this program.
package struct MigrationStatus: Sendable {
    /// The newest migration the database has run; 0 for none.
    package var databaseVersion: Int
    /// The newest migration this program knows.
    package var programVersion: Int
    /// What `migrate` would apply.
    package var pending: [Migration]
}
