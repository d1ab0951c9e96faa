import ArgumentParser
import CommandSupport
import EngineStore
import Foundation
import Gateway
import Logging
import NIOConcurrencyHelpers
import PostgresBackup
import PostgresClient
import Secrets
import Store

extension DatabaseCommand {
    /// `database backup`.
    struct Backup: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write a consistent copy of the gateway's data to a file, while it runs.",
            discussion: """
                The file contains every device token. It is encrypted with the master key of the gateway (AES-256-GCM), and only its owner may read it
                (mode 0600). It does not contain the master keys: keep a copy of them elsewhere, also of a key that a later rotation replaced. Without the
                key, the backup cannot be restored.
                """
        )
        @Option(help: "The file to write; it must not exist.") var out: String
        @Flag(help: "Do not encrypt: write pg_dump's custom format, for other programs.")
        var plain = false
        @OptionGroup var common: CommonOptions

        func run() async throws {
            let configuration = try await common.load()
            let logger = common.commandLogger()
            let started = ContinuousClock.now
            let advice = "give --master-key-file, or write the backup without encryption (--plain)"
            let keys = BackupKeys(configuration, missing: advice)
            let bytes = try await common.withAdminDatabase(.existing) { database in
                let line = GrowthLine()
                let bytes = try await DatabaseBackup(connectionString: database.connectionString, logger: logger)
                    .write(to: out, by: common.actor.description, keys: plain ? nil : keys) {
                        line.show("\(GrowthLine.size($0)) written")
                    }
                line.end()
                return bytes
            }
            let seconds = Int((ContinuousClock.now - started) / .seconds(1))
            Console.print("wrote \(out): \(GrowthLine.size(bytes)) in \(seconds) s")
            let key = configuration.masterKeyCommand == nil ? " (\(configuration.masterKeyFile))" : ""
            Console.error("push-gateway: the backup does not contain the master keys\(key): keep a copy elsewhere")
            if plain { Console.error("push-gateway: the backup is not encrypted, and contains every device token") }
        }
    }

    /// `database restore`.
    struct Restore: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Restore a backup into an empty database, in one transaction.",
            discussion: """
                The target is --database-url, or a new embedded cluster in --data-dir. It must not have a gateway schema, and no gateway may run on it.
                A backup of an older version is migrated. Give the command and the node the master key of the gateway that was backed up. An encrypted
                file is read to its end before anything is changed. Any other file needs --plain: whoever could change it can run any SQL.
                """
        )
        @Argument(help: "A file written by 'database backup'.") var file: String
        @Flag(
            help:
                "The file is not encrypted. Nothing shows who wrote it: only for a file that nobody else could change."
        )
        var plain = false
        @OptionGroup var common: CommonOptions

        func run() async throws {
            let configuration = try await common.load()
            let logger = common.commandLogger()
            let advice = "copy the master key of the gateway that was backed up there, or give --master-key-file"
            let keys = BackupKeys(configuration, missing: advice)
            let keyAdvice = try await common.withAdminDatabase(.exclusive) { database in
                let line = GrowthLine()
                try await DatabaseBackup(connectionString: database.connectionString, logger: logger)
                    .restore(from: file, by: common.actor.description, keys: plain ? nil : keys) { line.say($0) }
                return try await Self.checkKey(configuration, database, logger)
            }
            Console.print("restored \(file)")
            if let keyAdvice { Console.error("push-gateway: \(keyAdvice)") }
        }

        /// The advice about the master key; nil when the present key matches.
        private static func checkKey(
            _ configuration: GatewayConfiguration,
            _ database: AdminDatabase,
            _ logger: Logger
        ) async throws -> String? {
            let path = configuration.masterKeyFile
            guard configuration.masterKeyCommand != nil || FileManager.default.fileExists(atPath: path) else {
                return "before serving, copy the master key of the gateway that was backed up to \(path)"
            }
            let ring = try await configuration.masterKeySource.ring()
            let pool = PostgresPool(PostgresConfiguration(database.engineConnectionString), logger: logger)
            do {
                try await ring.bind(to: PostgresDirectory(call: pool, engine: pool))
            } catch let error as MasterKeyError {
                await pool.close()
                let place = configuration.masterKeyCommand.map { _ in "master.key.command" } ?? path
                return "the data is restored, but \(place) is not the key that sealed its secrets: \(error)"
            } catch {
                await pool.close()
                throw error
            }
            await pool.close()
            return nil
        }
    }
}

extension BackupKeys {
    /// The master keys of this command.
    ///
    /// - Parameters:
    ///   - configuration: where they are.
    ///   - advice: what to do when the file is missing.
    fileprivate init(_ configuration: GatewayConfiguration, missing advice: String) {
        let source = configuration.masterKeySource
        self.init { () async throws(BackupError) in
            do throws(MasterKeyError) {
                return try await source.keys().map { BackupKey(id: $0.id, secret: $0.backupSecret) }
            } catch .missing(let path) {
                throw BackupError(
                    .key,
                    "the backup is encrypted with a master key, and there is none at \(path): \(advice)"
                )
            } catch {
                throw BackupError(.key, "the backup is encrypted with a master key: \(error)")
            }
        }
    }
}

/// Shows the progress of long work without a known end: on a terminal one line that is redrawn, elsewhere one line every ten seconds.
private final class GrowthLine: Sendable {
    private static let reprint = 10
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private let count = NIOLockedValueBox(0)

    /// Shows the progress. Called about once a second.
    func show(_ text: String) {
        let turn = count.withLockedValue { count in
            count += 1
            return count
        }
        if isTerminal {
            FileHandle.standardError.write(Data("\r\u{1B}[K\(text)".utf8))
        } else if turn % Self.reprint == 0 {
            Console.error("push-gateway: \(text)")
        }
    }

    /// Prints a step, which stays visible.
    func say(_ text: String) { Console.error("push-gateway: \(text)") }

    func end() { if isTerminal, count.withLockedValue({ $0 }) > 0 { FileHandle.standardError.write(Data("\n".utf8)) } }

    /// Formats a number of bytes for people.
    static func size(_ bytes: Int) -> String {
        bytes < 1 << 20 ? "\(bytes / 1024) KiB" : "\(bytes / (1 << 20)) MiB"
    }
}
