package import PostgresClient

/// Updates a database's schema to the version of this program: forward only, one node at a time.
///
/// The session must belong to a superuser, or to a role that may assume `gateway_owner`.
package struct Migrator: Sendable {
    /// The advisory lock that excludes concurrent migrations. Any fixed number works; this one spells "gatewaym".
    static let lockKey: Int64 = 0x6761_7465_7761_796D

    /// How long to wait for another node's migration.
    private static let migrationLockTimeout: Duration = .seconds(300)

    /// How long one transaction may take. Statements that read a whole table belong in index and backfill steps.
    static let scriptTimeout: Duration = .seconds(3600)

    /// How often a transaction is retried that could not lock a table within `lockTimeout`. Other sessions wait behind a pending lock, so an attempt is short.
    static let lockAttempts = 30

    /// In the format of PostgreSQL.
    static let lockTimeout = "2s"

    package let files: SchemaFiles

    package init(files: SchemaFiles) { self.files = files }

    /// Makes a migrator with the files that are installed with the program.
    ///
    /// - Throws: `badFiles`.
    package static func bundled() throws(MigrationError) -> Migrator {
        Migrator(files: try SchemaFiles.bundled())
    }

    /// Applies the missing migrations. Roles and schema must exist (`Bootstrap`). A newer schema that supports this program stays unchanged.
    ///
    /// - Returns: the versions applied or finished by this call; for a new database, all versions.
    /// - Throws: `MigrationError`; changes that were applied before the failure stay.
    @discardableResult
    package func migrate(_ admin: PostgresConnection, progress: @Sendable (String) -> Void = { _ in })
        async throws(MigrationError) -> [Int]
    {
        try await lock(admin)
        let outcome: Result<[Int], MigrationError>
        do throws(MigrationError) {
            outcome = .success(try await migrateLocked(admin, progress: progress))
        } catch {
            outcome = .failure(error)
        }
        // The lock also ends with the session, so a failure here is harmless.
        _ = try? await admin.rows(Statement("SELECT pg_advisory_unlock($1)", [.int64(Self.lockKey)]))
        return try outcome.get()
    }

    /// Returns the state of the schema and the missing migrations. Changes nothing.
    ///
    /// - Throws: `checksumMismatch`, `databaseTooOld`, `databaseTooNew`, `database`.
    package func status(_ admin: PostgresConnection) async throws(MigrationError) -> MigrationStatus {
        try await plan(admin).status
    }

    // MARK: Status

    /// The status, with the data that is needed to act on it.
    private struct Plan {
        var status: MigrationStatus
        var state: SchemaState
        var checksums: Checksums
    }

    /// The SHA-256 checksums of the files, in their order.
    struct Checksums: Sendable {
        var migrations: [String] = []
        var routines: [String] = []
    }

    private func plan(_ admin: PostgresConnection) async throws(MigrationError) -> Plan {
        let state = try await asking { () async throws(PostgresError) in try await SchemaState.read(admin) }
        let checksums = try await asking { () async throws(PostgresError) in try await self.checksums(admin) }
        if !state.applied.isEmpty, state.version < files.oldestConvertible {
            throw MigrationError(
                .databaseTooOld(databaseVersion: state.version, oldestConvertible: files.oldestConvertible)
            )
        }
        for (migration, checksum) in zip(files.migrations, checksums.migrations) {
            guard let record = state.applied.first(where: { $0.version == migration.version }) else { continue }
            guard record.name == migration.name, record.checksum == checksum else {
                throw MigrationError(.checksumMismatch(version: record.version, name: record.name))
            }
        }
        let oldest = state.applied.last?.oldestProgram ?? state.version
        if state.version > files.version, oldest > files.version {
            throw MigrationError(
                .databaseTooNew(databaseVersion: state.version, oldestProgram: oldest, programVersion: files.version)
            )
        }
        let unfinished = Set(state.applied.filter { $0.nextStep != nil }.map(\.version))
        let status = MigrationStatus(
            databaseVersion: state.version,
            programVersion: files.version,
            oldestProgram: oldest,
            pending: files.migrations.filter { $0.version > state.version },
            unfinished: files.migrations.filter { unfinished.contains($0.version) },
            changedRoutines: state.version > files.version
                ? []
                : zip(files.routines, checksums.routines).filter { state.routines[$0.name] != $1 }.map(\.0.name)
        )
        return Plan(status: status, state: state, checksums: checksums)
    }

    /// Computed by the server, so that this target needs no cryptographic library.
    private func checksums(_ admin: PostgresConnection) async throws(PostgresError) -> Checksums {
        let texts = files.migrations.map(\.text) + files.routines.map(\.sql)
        let statement = Statement(
            "SELECT encode(sha256(body), 'hex') AS checksum FROM unnest($1) WITH ORDINALITY AS f (body, n) ORDER BY n",
            [.byteArrays(texts.map { Array($0.utf8) })]
        )
        var all: [String] = []
        for row in try await admin.rows(statement) { all.append(try row.text("checksum")) }
        let count = files.migrations.count
        return Checksums(migrations: Array(all.prefix(count)), routines: Array(all.dropFirst(count)))
    }

    // MARK: Execution

    private func migrateLocked(_ admin: PostgresConnection, progress: @Sendable (String) -> Void)
        async throws(MigrationError) -> [Int]
    {
        let plan = try await plan(admin)
        let status = plan.status
        // The schema is newer. Its routines and its unfinished steps are left to the newer program.
        if status.databaseVersion > files.version { return [] }
        if plan.state.applied.isEmpty {
            progress("creating the schema, version \(files.version)")
            try await run(baseline(plan.checksums), admin, failure: .baselineFailed)
            return files.migrations.map(\.version)
        }
        for migration in status.pending { progress("migration \(migration.version): \(migration.name)") }
        if status.pending.isEmpty, !status.changedRoutines.isEmpty {
            progress("updating \(status.changedRoutines.count) routine(s)")
        }
        if !status.pending.isEmpty || !status.changedRoutines.isEmpty {
            let versions = status.pending.map(\.version)
            try await run(expansion(status, plan.checksums), admin, failure: .expandFailed(versions: versions))
        }
        var finished = status.pending.filter(\.steps.isEmpty).map(\.version)
        for migration in status.unfinished + status.pending.filter({ !$0.steps.isEmpty }) {
            let next = plan.state.applied.first { $0.version == migration.version }?.nextStep ?? 0
            try await finish(migration, from: next, admin, progress)
            finished.append(migration.version)
        }
        return finished.sorted()
    }

    /// The statements that create a new database.
    private func baseline(_ checksums: Checksums) throws(PostgresError) -> String {
        let (first, others) = (files.routines.prefix(1), files.routines.dropFirst())
        let parts = first.map(\.sql) + files.tables.map(\.sql) + others.map(\.sql) + [files.finish]
        return parts.joined(separator: "\n;\n") + "\n;\n"
            + (try versionRows(files.migrations, checksums, isComplete: true))
            + (try routineRows(checksums))
    }

    /// The expand parts of all pending migrations, and the routines that changed.
    private func expansion(_ status: MigrationStatus, _ checksums: Checksums) throws(PostgresError) -> String {
        let changed = Set(status.changedRoutines)
        let parts = status.pending.map(\.expand) + files.routines.filter { changed.contains($0.name) }.map(\.sql)
        return parts.joined(separator: "\n;\n") + "\n;\n"
            + (try versionRows(status.pending, checksums, isComplete: false))
            + (try routineRows(checksums))
    }

    private func versionRows(_ migrations: [Migration], _ checksums: Checksums, isComplete: Bool)
        throws(PostgresError) -> String
    {
        var text = ""
        for (migration, checksum) in zip(files.migrations, checksums.migrations) where migrations.contains(migration) {
            let next = isComplete || migration.steps.isEmpty ? "NULL" : "0"
            text += """
                INSERT INTO gateway.schema_version (version, name, checksum, oldest_program, next_step)
                VALUES (\(migration.version), \(try SQLText.literal(migration.name)), \(try SQLText.literal(checksum)),
                    \(migration.oldestProgram), \(next));

                """
        }
        return text
    }

    private func routineRows(_ checksums: Checksums) throws(PostgresError) -> String {
        var rows: [String] = []
        for (routine, checksum) in zip(files.routines, checksums.routines) {
            rows.append("(\(try SQLText.literal(routine.name)), \(try SQLText.literal(checksum)))")
        }
        return """
            DELETE FROM gateway.schema_routine;
            INSERT INTO gateway.schema_routine (name, checksum) VALUES \(rows.joined(separator: ", "));
            """
    }

    /// Runs statements as the owner in one transaction, and retries while tables cannot be locked.
    private func run(
        _ sql: @autoclosure () throws(PostgresError) -> String,
        _ admin: PostgresConnection,
        failure: MigrationError.Code
    ) async throws(MigrationError) {
        do throws(PostgresError) {
            try await transact(try sql(), admin)
        } catch {
            throw MigrationError(failure, underlying: error)
        }
    }

    /// Runs statements as the owner in one transaction, and retries while tables cannot be locked.
    ///
    /// On Citus, the statements are sent one by one: its workers get the text of the query that a statement came with, and refuse that of a whole script.
    func transact(_ sql: String, _ admin: PostgresConnection) async throws(PostgresError) {
        let script = """
            -- First: Citus refuses a change of mode after the first multi-shard statement.
            SET LOCAL citus.multi_shard_modify_mode = 'sequential';
            SET LOCAL lock_timeout = '\(Self.lockTimeout)';
            SET LOCAL statement_timeout = 0;
            SET LOCAL idle_in_transaction_session_timeout = 0;
            SET LOCAL ROLE gateway_owner;
            SET LOCAL search_path = gateway, pg_catalog;
            \(sql)
            ;
            """
        let isCitus = try await admin.rows(CatalogSQL.citus()).only().int("count") > 0
        try await retryingLocks { () async throws(PostgresError) in
            if isCitus {
                _ = try await admin.run(Self.transaction(script), timeout: Self.scriptTimeout)
            } else {
                try await admin.script("BEGIN;\n\(script)\nCOMMIT;", timeout: Self.scriptTimeout)
            }
        }
    }

    /// The statements of a script, to be sent one by one.
    static func transaction(_ script: String) -> Transaction {
        let statements = SQLScript.statements(of: script).map { Statement($0, [], reach: .global) }
        var transaction = Transaction(tenant: nil, statements)
        transaction.keepsPlans = false
        return transaction
    }

    func retryingLocks(_ body: () async throws(PostgresError) -> Void) async throws(PostgresError) {
        for attempt in 1...Self.lockAttempts {
            do throws(PostgresError) {
                return try await body()
            } catch {
                guard error.code == .lockTimeout, attempt < Self.lockAttempts else { throw error }
            }
            do {
                try await Task.sleep(for: .milliseconds(500))
            } catch {
                throw PostgresError(.cancelled)
            }
        }
    }

    private func lock(_ admin: PostgresConnection) async throws(MigrationError) {
        let deadline = ContinuousClock.now + Self.migrationLockTimeout
        let attempt = Statement("SELECT pg_try_advisory_lock($1) AS held", [.int64(Self.lockKey)])
        while true {
            let isHeld = try await asking { () async throws(PostgresError) in
                try await admin.rows(attempt).only().bool("held")
            }
            if isHeld { return }
            guard ContinuousClock.now < deadline else { throw MigrationError(.locked) }
            // Retries instead of using pg_advisory_lock: a waiting statement would hold a snapshot, for which a concurrent index build waits.
            do {
                try await Task.sleep(for: .milliseconds(200))
            } catch {
                throw MigrationError(.database, underlying: PostgresError(.cancelled))
            }
        }
    }

    private func asking<Value>(_ body: () async throws(PostgresError) -> Value) async throws(MigrationError) -> Value {
        do throws(PostgresError) {
            return try await body()
        } catch {
            throw MigrationError(.database, underlying: error)
        }
    }
}
