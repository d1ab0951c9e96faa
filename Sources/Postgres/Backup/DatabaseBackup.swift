import DatabaseSchema
import EmbeddedPostgres
import FoundationEssentials
import Glibc
package import Logging
import PostgresClient

/// Backs up and restores the schema `gateway` of one database with PostgreSQL's own programs, in pg_dump's custom format.
///
/// A file does not contain roles: a restore creates them as a migration does. It does not contain the master keys either, one of which encrypts it
/// (`BackupCipher`).
package struct DatabaseBackup: Sendable {
    /// How long ANALYZE may take after a restore.
    private static let analyzeTimeout = Duration.seconds(3600)

    private let connectionString: String
    private let logger: Logger

    /// - Parameters:
    ///   - connectionString: the connection string of an administrator, as for migrations.
    ///   - logger: logs notices of the server.
    package init(connectionString: String, logger: Logger) {
        self.connectionString = connectionString
        self.logger = logger
    }

    // MARK: Backup

    /// Writes a consistent copy while the gateway runs. It uses one snapshot, which holds back vacuum meanwhile. The audit of each tenant gets a row before it,
    /// which the copy contains.
    ///
    /// - Parameters:
    ///   - file: must not exist. It is created with mode 0600 once the backup is complete.
    ///   - actor: for the audit.
    ///   - keys: the master keys, of which the one that seals the secrets of the database encrypts the file. Nil: it is not encrypted.
    ///   - progress: receives the number of written bytes about once a second.
    /// - Returns: the file's size in bytes.
    /// - Throws: `BackupError`.
    package func write(
        to file: String,
        by actor: String,
        keys: BackupKeys?,
        progress: @escaping @Sendable (Int) -> Void
    ) async throws(BackupError) -> Int {
        guard !FileManager.default.fileExists(atPath: file) else {
            throw BackupError(.badFile, "\(file) exists already: choose another file")
        }
        let (version, hasSchema) = try await asking { (admin) throws(PostgresError) in
            let found = try await Self.ask(admin, "SELECT to_regclass('gateway.schema_version') IS NOT NULL AS found")
            return (try await Self.majorVersion(admin), try found.bool("found"))
        }
        guard hasSchema else { throw BackupError(.nothingThere, "the database has no gateway schema to back up") }
        let programs = try await ClientPrograms.find(for: version)
        let key = try await encryptingKey(keys)
        let partial = file + ".partial"
        try Self.makePrivate(partial)
        if let problem = await audit("backup", file, by: actor) {
            logger.warning("the audit has no row of this backup", metadata: ["error": "\(problem)"])
        }
        do throws(BackupError) {
            let ending = try await watching({ Self.size(of: partial) }, progress) { () async throws(BackupError) in
                try await dump(to: partial, key, with: programs)
            }
            guard ending.isSuccess else { throw BackupError(.failed, Self.complaint(ending.output, of: "pg_dump")) }
            guard unsafe rename(partial, file) == 0 else {
                throw BackupError(.badFile, "\(file) could not be renamed: \(ClusterFiles.reason())")
            }
        } catch {
            try? FileManager.default.removeItem(atPath: partial)
            throw error
        }
        return Self.size(of: file)
    }

    private func dump(
        to file: String,
        _ key: BackupKey?,
        with programs: ClientPrograms
    ) async throws(BackupError) -> ClusterCommand.Ending {
        let arguments = ["--format=custom", "--schema=gateway", "--no-password"]
        let environment = try environment()
        guard let key else {
            return try await programs.run("pg_dump", arguments + ["--file=\(file)"], environment: environment)
        }
        let writer = try EncryptedWriter(file, key)
        let ending = try await programs.run(
            "pg_dump",
            arguments,
            environment: environment,
            output: { (part) throws(BackupError) in try writer.add(part) }
        )
        if ending.isSuccess { try writer.finish() }
        return ending
    }

    /// The key that seals the secrets of the database, whose copies the operator keeps; in a database without secrets, the newest one.
    private func encryptingKey(_ keys: BackupKeys?) async throws(BackupError) -> BackupKey? {
        guard let keys else { return nil }
        let ours = try await keys.read()
        let stored = try await asking { (admin) throws(PostgresError) in
            try await Self.ask(admin, "SELECT max(key_id) AS key FROM gateway.master_key").optionalText("key")
        }
        guard let key = ours.last(where: { stored == nil || $0.id == stored }) else {
            let names = ours.map(\.id).joined(separator: ", ")
            throw BackupError(
                .key,
                "the secrets of the database are sealed with master key \(stored ?? ""), and this command has \(names): give it that "
                    + "key (--master-key-file, --master-key-command), or write the backup without encryption (--plain)"
            )
        }
        return key
    }

    // MARK: Restore

    /// Restores a backup into a database without a gateway schema, completely or not at all, and updates it to the version of this program. The audit of each
    /// tenant gets a row after it.
    ///
    /// - Parameters:
    ///   - file: a file that `write` created with this version of the program or an older one.
    ///   - actor: for the audit.
    ///   - keys: the master keys, one of which encrypted the file. Nil: it is not encrypted, and nothing shows who wrote it.
    ///   - progress: receives a sentence for each step.
    /// - Throws: `BackupError`.
    package func restore(
        from file: String,
        by actor: String,
        keys: BackupKeys?,
        progress: @escaping @Sendable (String) -> Void
    ) async throws(BackupError) {
        let (version, objects) = try await asking { (admin) throws(PostgresError) in
            let count = try await Self.ask(
                admin,
                """
                SELECT (SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace('gateway'))
                    + (SELECT count(*) FROM pg_proc WHERE pronamespace = to_regnamespace('gateway')) AS objects
                """
            )
            return (try await Self.majorVersion(admin), try count.int("objects"))
        }
        guard objects == 0 else {
            throw BackupError(
                .notEmpty,
                "the database has a gateway schema already, and restoring replaces nothing: name an empty database, or a new --data-dir"
            )
        }
        let programs = try await ClientPrograms.find(for: version)
        let content = try await content(of: file, keys, progress)
        try await check(content, with: programs)
        try await prepare()
        do throws(BackupError) {
            try await fill(from: content, with: programs, progress)
        } catch {
            // Restores the initial state: roles, and an empty schema.
            try? await asking { (admin) throws(PostgresError) in try await Bootstrap.prepare(admin) }
            throw error
        }
        try await finish(progress)
        if let problem = await audit("restore", file, by: actor) {
            progress("the audit has no row of this restore: \(problem)")
        }
    }

    /// A file that can be read. An encrypted one is read to its end first, so that a damaged one changes nothing.
    ///
    /// The caller decides which kind it is, not the file: else whoever can replace an encrypted file could have any SQL run.
    private func content(
        of file: String,
        _ keys: BackupKeys?,
        _ progress: @escaping @Sendable (String) -> Void
    ) async throws(BackupError) -> BackupContent {
        guard FileManager.default.isReadableFile(atPath: file) else {
            throw BackupError(.badFile, "\(file) cannot be read")
        }
        let isEncrypted = EncryptedReader.isEncrypted(file)
        guard let keys else {
            guard !isEncrypted else {
                throw BackupError(.badFile, "\(file) is an encrypted backup: leave out --plain")
            }
            return BackupContent(file: file, keys: nil)
        }
        guard isEncrypted else {
            throw BackupError(
                .badFile,
                "\(file) is not an encrypted backup. If it was written with --plain or by an older version, and nobody could change it, "
                    + "add --plain"
            )
        }
        let ours = try await keys.read()
        progress("checking \(file)")
        try EncryptedReader(file, ours).check()
        return BackupContent(file: file, keys: ours)
    }

    /// Checks that the file is a backup of a gateway before anything is changed.
    private func check(_ content: BackupContent, with programs: ClientPrograms) async throws(BackupError) {
        let list = try await content.restore(["--list"], environment: [:], with: programs)
        guard list.isSuccess else {
            throw BackupError(
                .badFile,
                "\(content.file) is not a backup, or one that PostgreSQL \(programs.version) cannot read: "
                    + Self.complaint(list.output, of: "pg_restore")
            )
        }
        guard list.output.contains(" TABLE gateway schema_version ") else {
            throw BackupError(.badFile, "\(content.file) is a backup of another database: it has no gateway schema")
        }
    }

    /// Creates the roles and drops the empty schema, because the file contains the schema.
    private func prepare() async throws(BackupError) {
        try await asking { (admin) throws(PostgresError) in
            try await Bootstrap.prepare(admin)
            try await admin.script("DROP SCHEMA gateway")
        }
    }

    private func fill(
        from content: BackupContent,
        with programs: ClientPrograms,
        _ progress: @escaping @Sendable (String) -> Void
    ) async throws(BackupError) {
        progress("restoring \(content.file)")
        let name = try environment()["PGDATABASE"] ?? ""
        let quoted = name.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
        let ending = try await content.restore(
            ["--single-transaction", "--exit-on-error", "--no-password", "--dbname=dbname='\(quoted)'"],
            environment: try environment(),
            with: programs
        )
        guard ending.isSuccess else {
            throw BackupError(
                .failed,
                Self.complaint(ending.output, of: "pg_restore") + "; nothing was kept"
            )
        }
    }

    /// Updates an older schema and the planner's statistics.
    private func finish(_ progress: @escaping @Sendable (String) -> Void) async throws(BackupError) {
        do {
            let admin = try await PostgresConnection.connect(PostgresConfiguration(connectionString), logger: logger)
            try await Bootstrap.prepare(admin)
            try await Migrator.bundled().migrate(admin, progress: progress)
            // Events written after the backup are lost, and their offsets will be used again.
            try await admin.script("DELETE FROM gateway.log_generation")
            progress("analyzing")
            try await admin.script("SET statement_timeout = 0; ANALYZE", timeout: Self.analyzeTimeout)
            await admin.close()
        } catch {
            throw BackupError(.database, "the backup is restored, but the database is not ready: \(error)")
        }
    }

    // MARK: The audit

    /// Writes a row into the audit of each tenant, whose data the file contains. One transaction per tenant: each holds the lock of one audit.
    ///
    /// - Returns: nil, or why the row is missing: for example, a standby accepts no writes. The backup goes on.
    private func audit(_ action: String, _ file: String, by actor: String) async -> BackupError? {
        let name = String((file.split(separator: "/").last ?? "").prefix(Self.nameLength))
        do throws(BackupError) {
            try await asking { (admin) throws(PostgresError) in
                let all = try await admin.run(Transaction(tenant: nil, [Statement(Self.tenants)]))
                for row in all.first?.map(\.self) ?? [] {
                    let values: [PostgresValue] = [
                        .text(try row.text("tenant_id")), .text(actor), .text(action), .text(name),
                    ]
                    _ = try await admin.run(Transaction(tenant: nil, [Statement(Self.writeAudit, values)]))
                }
            }
            return nil
        } catch {
            return error
        }
    }

    /// 200 characters of the file's name.
    private static let nameLength = 200
    private static let tenants = "SELECT tenant_id FROM gateway.tenant ORDER BY tenant_id"
    private static let writeAudit = """
        SELECT gateway.write_audit($1::text, $2::text, ARRAY[$3::text], ARRAY['database'],
            ARRAY[json_build_object('file', $4::text)::text])
        """

    // MARK: Helpers

    /// libpq's environment variables. Other users of the machine can see the arguments of a command, so these must not contain a password.
    private func environment() throws(BackupError) -> [String: String] {
        do throws(PostgresError) {
            return try PostgresConfiguration.environment(of: connectionString)
        } catch {
            throw BackupError(.database, "\(error)")
        }
    }

    /// Runs `body` on a session of the administrator.
    private func asking<Value: Sendable>(
        _ body: (PostgresConnection) async throws(PostgresError) -> Value
    ) async throws(BackupError) -> Value {
        do throws(PostgresError) {
            let admin = try await PostgresConnection.connect(PostgresConfiguration(connectionString), logger: logger)
            let value = try await body(admin)
            await admin.close()
            return value
        } catch {
            throw BackupError(.database, "the database could not be queried: \(error)")
        }
    }

    private static func ask(_ admin: PostgresConnection, _ sql: String) async throws(PostgresError) -> Row {
        guard let result = try await admin.run(Transaction(tenant: nil, [Statement(sql)])).first else {
            throw PostgresError(.other, reason: "no result")
        }
        return try result.only()
    }

    private static func majorVersion(_ admin: PostgresConnection) async throws(PostgresError) -> Int {
        try await ask(admin, "SELECT current_setting('server_version_num')::integer / 10000 AS version").int("version")
    }

    /// Runs `body`, and passes the result of `size` to `progress` about once a second.
    private func watching<Value: Sendable>(
        _ size: @escaping @Sendable () -> Int,
        _ progress: @escaping @Sendable (Int) -> Void,
        _ body: () async throws(BackupError) -> Value
    ) async throws(BackupError) -> Value {
        let watch = Task {
            while (try? await Task.sleep(for: .seconds(1))) != nil { progress(size()) }
        }
        defer { watch.cancel() }
        return try await body()
    }

    /// Makes the file private before it is written: a backup contains every device token.
    private static func makePrivate(_ file: String) throws(BackupError) {
        let opened = unsafe open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard opened >= 0 else {
            throw BackupError(.badFile, "\(file) could not be created: \(ClusterFiles.reason())")
        }
        Glibc.close(opened)
    }

    private static func size(of file: String) -> Int {
        var status = stat()
        return unsafe stat(file, &status) == 0 ? Int(status.st_size) : 0
    }

    /// The error messages of a program, without lines of context and detail, which may quote rows.
    static func complaint(_ output: String, of program: String) -> String {
        let lines = output.split(separator: "\n").filter { $0.hasPrefix("\(program): ") }
        return lines.isEmpty ? "\(program) failed" : lines.prefix(4).joined(separator: "; ")
    }
}
