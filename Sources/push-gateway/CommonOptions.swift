import ArgumentParser
import CommandSupport
import EngineStore
import Foundation
import Gateway
import Logging
import Model
import Observability
import Store

/// The options of every command that uses the database.
struct CommonOptions: ParsableArguments {
    @Option(
        help:
            "Directory of this node: embedded database, master key. Default: the user's state directory; for root /var/lib/push-gateway."
    )
    var dataDir: String?

    @Option(
        help:
            "PostgreSQL to use, as a URL or libpq connection string. Without it, a private PostgreSQL is started in the data directory."
    )
    var databaseUrl: String?

    @Option(help: "File with the master keys, one per line. Default: master.key in the data directory.")
    var masterKeyFile: String?

    @Option(
        help:
            "Shell command that prints the master keys in place of the file, for a KMS, PKCS#11 or Vault. It must not contain a secret: other users see it (ps)."
    )
    var masterKeyCommand: String?

    @Option(help: "YAML file with settings; flags and the environment override it.")
    var config: String?

    @Option(help: "trace, debug, info, notice, warning, error or critical.")
    var logLevel: String?

    @Option(help: "Your name, for the audit: at most 64 characters.")
    var by: String?

    func validate() throws {
        guard let by else { return }
        guard (1...64).contains(by.count), by.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
            throw ValidationError("--by must be 1 to 64 printable characters")
        }
    }

    /// The person who runs this command.
    var actor: AuditActor { .command(user: getuid(), name: by) }

    /// The given flags: dotted names with their values.
    var flags: [String: String] {
        var flags: [String: String] = [:]
        flags["data.dir"] = dataDir.map(Self.absolute)
        flags["database.url"] = databaseUrl
        flags["master.key.file"] = masterKeyFile
        flags["master.key.command"] = masterKeyCommand
        flags["log.level"] = logLevel
        return flags
    }

    private static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }

    /// The configuration of a command. A command of root continues as the account of the data directory (`run.as`).
    ///
    /// - Throws: `ConfigurationProblem`.
    func load(_ more: [String: String] = [:]) async throws -> GatewayConfiguration {
        if let databaseUrl, GatewayConfiguration.hasPassword(databaseUrl) {
            Console.error(
                "push-gateway: --database-url contains a password, which other users of this machine can see (ps); "
                    + "set DATABASE_URL, or name a file with PGPASSFILE"
            )
        }
        let configuration = try await GatewayConfiguration.load(
            flags: flags.merging(more) { $1 },
            configFile: config
        )
        try await configuration.dropRoot { Console.error("push-gateway: \($0)") }
        return configuration
    }

    /// The logger of a short command, which writes warnings to standard error.
    func commandLogger() -> Logger {
        let level = logLevel.flatMap { Logger.Level(rawValue: $0) } ?? .warning
        return Logger(label: "push-gateway") { JSONLogHandler(label: $0, level: level) }
    }

    /// Runs `body` on an open database and closes the database, also after an error. `isAudited`: a change of settings or an export, which is refused while the
    /// copies of the audit are behind (`audit.lag.seconds`).
    ///
    /// - Throws: the error of `body` or of opening the database.
    func withDatabase<Value: Sendable>(
        migrates: Bool = false,
        isAudited: Bool = false,
        _ body: (GatewayConfiguration, Database) async throws -> Value
    ) async throws -> Value {
        let configuration = try await load()
        return try await Database.with(
            configuration,
            migrates: migrates,
            logger: commandLogger(),
            progress: { Console.error("push-gateway: \($0)") }
        ) { database in
            if isAudited {
                let keeper = PostgresAuditKeeper(engine: database.engine, node: NodeID("command"))
                let (limit, copies) = (configuration.auditLagSeconds, configuration.auditCopies)
                if let problem = try await AuditLimit.problem(limit, copies, keeper) { throw CommandFailure(problem) }
            }
            return try await body(configuration, database)
        }
    }

    /// Runs `body` on the database with administrator access, and closes the database.
    ///
    /// - Throws: the error of `body` or of opening the database.
    func withAdminDatabase<Value: Sendable>(
        _ access: AdminDatabase.Access,
        _ body: (AdminDatabase) async throws -> Value
    ) async throws -> Value {
        try await AdminDatabase.with(
            try await load(),
            access,
            logger: commandLogger(),
            progress: { Console.error("push-gateway: \($0)") },
            body
        )
    }
}
