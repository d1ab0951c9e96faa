import DatabaseSchema
import EmbeddedPostgres
import FoundationEssentials
import Glibc
package import Logging
import PostgresClient

/// Backups of one database's schema `gateway` by PostgreSQL's own programs, in pg_dump's custom format.
///
/// Roles are not in a file: restoring makes them as a migration does. The master key is not in it either.
package struct DatabaseBackup: Sendable {
    /// How long ANALYZE may take after a restore.
    private static let analyzeTimeout = Duration.seconds(3600)

    private let connectionString: String
    private let logger: Logger

    /// - Parameters:
    ///   - connectionString: of an administrator, as for migrations.
    ///   - logger: for notices of the server.
    package init(connectionString: String, logger: Logger) {
        self.connectionString = connectionString
        self.logger = logger
    }

    // MARK: Out

    /// Writes a consistent copy while the gateway runs: one snapshot, which holds back vacuum for as long.
    ///
    /// - Parameters:
    ///   - file: appears when it is whole, mode 0600; must not exist.
    ///   - progress: told about once a second how many bytes are written.
    /// - Returns: the file's size in bytes.
    /// - Throws: `BackupError`.
    package func write(to file: String, progress: @escaping @Sendable (Int) -> Void) async throws(BackupError) -> Int {
        guard !FileManager.default.fileExists(atPath: file) else {
            throw BackupError(.badFile, "\(file) is there already: name another file")
        }
        let (version, hasSchema) = try await asking { (admin) throws(PostgresError) in
            let found = try await Self.ask(admin, "SELECT to_regclass('gateway.schema_version') IS NOT NULL AS found")
            return (try await Self.majorVersion(admin), try found.bool("found"))
        }
        guard hasSchema else { throw BackupError(.nothingThere, "the database has no gateway schema to back up") }
        let programs = try await ClientPrograms.find(for: version)
        let partial = file + ".partial"
        try Self.makePrivate(partial)
        do throws(BackupError) {
            let ending = try await watching({ Self.size(of: partial) }, progress) { () async throws(BackupError) in
                try await programs.run(
                    "pg_dump",
                    ["--format=custom", "--schema=gateway", "--no-password", "--file=\(partial)"],
                    environment: try environment()
                )
            }
            guard ending.isSuccess else { throw BackupError(.failed, Self.complaint(ending.output, of: "pg_dump")) }
            guard unsafe rename(partial, file) == 0 else {
                throw BackupError(.badFile, "\(file) cannot be named: \(ClusterFiles.reason())")
            }
        } catch {
            try? FileManager.default.removeItem(atPath: partial)
            throw error
        }
        return Self.size(of: file)
    }

    // MARK: In

    /// Reads a backup into a database without a gateway schema, all of it or nothing, and brings it up to this program's version.
    ///
    /// - Parameters:
    ///   - file: what `write` made, with this version of the program or an older one.
    ///   - progress: told in a sentence what is done, and about once a second how far it has grown.
    /// - Throws: `BackupError`.
    package func restore(from file: String, progress: @escaping @Sendable (String) -> Void) async throws(BackupError) {
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
        try await check(file, with: programs)
        try await prepare()
        do throws(BackupError) {
            try await fill(from: file, with: programs, progress)
        } catch {
            // As it was: roles, and an empty schema.
            try? await asking { (admin) throws(PostgresError) in try await Bootstrap.prepare(admin) }
            throw error
        }
        try await finish(progress)
    }

    /// Refuses what is no backup of a gateway before anything is touched.
    private func check(_ file: String, with programs: ClientPrograms) async throws(BackupError) {
        guard FileManager.default.isReadableFile(atPath: file) else {
            throw BackupError(.badFile, "\(file) cannot be read")
        }
        let list = try await programs.run("pg_restore", ["--list", file], environment: [:])
        guard list.isSuccess else {
            throw BackupError(
                .badFile,
                "\(file) is no backup, or one that PostgreSQL \(programs.version) cannot read: "
                    + Self.complaint(list.output, of: "pg_restore")
            )
        }
        guard list.output.contains(" TABLE gateway schema_version ") else {
            throw BackupError(.badFile, "\(file) is a backup of something else: it has no gateway schema")
        }
    }

    /// Roles, and no schema: the file brings it.
    private func prepare() async throws(BackupError) {
        try await asking { (admin) throws(PostgresError) in
            try await Bootstrap.prepare(admin)
            try await admin.script("DROP SCHEMA gateway")
        }
    }

    private func fill(
        from file: String,
        with programs: ClientPrograms,
        _ progress: @escaping @Sendable (String) -> Void
    ) async throws(BackupError) {
        progress("restoring \(file)")
        let name = try environment()["PGDATABASE"] ?? ""
        let quoted = name.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
        let ending = try await programs.run(
            "pg_restore",
            ["--single-transaction", "--exit-on-error", "--no-password", "--dbname=dbname='\(quoted)'", file],
            environment: try environment()
        )
        guard ending.isSuccess else {
            throw BackupError(
                .failed,
                Self.complaint(ending.output, of: "pg_restore") + "; nothing was kept"
            )
        }
    }

    /// An older schema is brought up to date, and the planner learns what came.
    private func finish(_ progress: @escaping @Sendable (String) -> Void) async throws(BackupError) {
        do {
            let admin = try await PostgresConnection.connect(PostgresConfiguration(connectionString), logger: logger)
            try await Bootstrap.prepare(admin)
            try await Migrator.bundled().migrate(admin, progress: progress)
            progress("analyzing")
            try await admin.script("SET statement_timeout = 0; ANALYZE", timeout: Self.analyzeTimeout)
            await admin.close()
        } catch {
            throw BackupError(.database, "the backup is restored, but the database is not ready: \(error)")
        }
    }

    // MARK: Parts

    /// libpq's variables: what other users of the machine can see of a command must hold no password.
    private func environment() throws(BackupError) -> [String: String] {
        do throws(PostgresError) {
            return try PostgresConfiguration.environment(of: connectionString)
        } catch {
            throw BackupError(.database, "\(error)")
        }
    }

    /// Runs `body` on a session of the administrator's.
    private func asking<Value: Sendable>(
        _ body: (PostgresConnection) async throws(PostgresError) -> Value
    ) async throws(BackupError) -> Value {
        do throws(PostgresError) {
            let admin = try await PostgresConnection.connect(PostgresConfiguration(connectionString), logger: logger)
            let value = try await body(admin)
            await admin.close()
            return value
        } catch {
            throw BackupError(.database, "the database cannot be asked: \(error)")
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

    /// Runs `body`, and tells `progress` about once a second what `size` says.
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

    /// A backup holds every device token: nobody else may read it while it grows.
    private static func makePrivate(_ file: String) throws(BackupError) {
        let opened = unsafe open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard opened >= 0 else {
            throw BackupError(.badFile, "\(file) cannot be made: \(ClusterFiles.reason())")
        }
        Glibc.close(opened)
    }

    private static func size(of file: String) -> Int {
        var status = stat()
        return unsafe stat(file, &status) == 0 ? Int(status.st_size) : 0
    }

    /// The programs' own sentences. Lines of context and detail may quote rows, so they are left out.
    static func complaint(_ output: String, of program: String) -> String {
        let lines = output.split(separator: "\n").filter { $0.hasPrefix("\(program): ") }
        return lines.isEmpty ? "\(program) failed" : lines.prefix(4).joined(separator: "; ")
    }
}
