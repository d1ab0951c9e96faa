import EmbeddedPostgres
import FoundationEssentials
import Glibc
import Subprocess

/// PostgreSQL's own client programs of one major version.
struct ClientPrograms: Sendable, Equatable {
    /// The maximum output of a program. Error messages have a few lines.
    private static let outputBytes = 256 << 10

    var directory: String
    var version: Int

    /// Finds programs that can connect to a server of `version`: of the same major version if installed, otherwise the oldest newer ones.
    ///
    /// pg_dump refuses a newer server, and a newer pg_restore sends settings that an older server does not know.
    /// - Throws: `noPrograms`.
    static func find(
        for version: Int,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) async throws(BackupError) -> ClientPrograms {
        var found: [ClientPrograms] = []
        for directory in PostgresBinaries.candidates(environment) {
            guard let programs = await examine(directory) else { continue }
            if programs.version == version { return programs }
            found.append(programs)
        }
        if let newer = found.filter({ $0.version > version }).min(by: { $0.version < $1.version }) { return newer }
        let versions = Set(found.map(\.version)).sorted().map(String.init).joined(separator: ", ")
        throw BackupError(
            .noPrograms,
            "the server is PostgreSQL \(version), and pg_dump and pg_restore of that version or newer are not in "
                + "/usr/lib/postgresql, PATH or POSTGRES_BIN" + (versions.isEmpty ? "" : " (only \(versions))")
                + ": install postgresql-client-\(version)"
        )
    }

    /// Returns nil when a program is missing, or prints no version.
    private static func examine(_ directory: String) async -> ClientPrograms? {
        for program in ["pg_dump", "pg_restore"]
        where !FileManager.default.isExecutableFile(atPath: "\(directory)/\(program)") { return nil }
        let path = "\(directory)/pg_dump"
        guard let ending = try? await ClusterCommand.run(path, ["--version"], as: nil, in: "/"),
            let version = PostgresBinaries.version(in: ending.output)
        else { return nil }
        return ClientPrograms(directory: directory, version: version)
    }

    /// Runs a program to its end.
    ///
    /// - Parameters:
    ///   - program: the name of the program.
    ///   - arguments: must not contain secrets, because other users of the machine can see them.
    ///   - environment: added to that of this process: the connection parameters, including the password.
    /// - Returns: whether it succeeded, and its output on both channels.
    /// - Throws: `failed` when it could not be started.
    func run(_ program: String, _ arguments: [String], environment: [String: String]) async throws(BackupError)
        -> ClusterCommand.Ending
    {
        do {
            let result = try await Subprocess.run(
                .name("sh"),
                arguments: command(program, arguments),
                environment: .inherit.updating(Self.overrides(environment)),
                output: .string(limit: Self.outputBytes),
                error: .string(limit: Self.outputBytes)
            )
            let output = [result.standardOutput, result.standardError].compactMap { $0 }.joined()
            return .init(isSuccess: result.terminationStatus.isSuccess, output: output)
        } catch {
            throw BackupError(.failed, "\(program) could not be run: \(error)")
        }
    }

    /// Runs a program to its end and passes its output on while it runs. The program waits while `take` does.
    ///
    /// - Returns: whether it succeeded, and its error messages.
    /// - Throws: `failed` when it could not be started; the error of `take`.
    func run(
        _ program: String,
        _ arguments: [String],
        environment: [String: String],
        output take: ([UInt8]) throws(BackupError) -> Void
    ) async throws(BackupError) -> ClusterCommand.Ending {
        do {
            let result = try await Subprocess.run(
                .name("sh"),
                arguments: command(program, arguments),
                environment: .inherit.updating(Self.overrides(environment)),
                input: .none,
                output: .sequence,
                error: .string(limit: Self.outputBytes)
            ) { execution in
                for try await part in execution.standardOutput {
                    try take(unsafe part.withUnsafeBytes { unsafe [UInt8]($0) })
                }
            }
            let output = [result.standardError].compactMap { $0 }.joined()
            return .init(isSuccess: result.terminationStatus.isSuccess, output: output)
        } catch let error as BackupError {
            throw error
        } catch {
            throw BackupError(.failed, "\(program) could not be run: \(error)")
        }
    }

    /// Runs a program to its end and writes to its input what `next` returns. A program may end before it has read everything.
    ///
    /// - Returns: whether it succeeded, and its output on both channels.
    /// - Throws: `failed` when it could not be started; the error of `next`.
    func run(
        _ program: String,
        _ arguments: [String],
        environment: [String: String],
        input next: () throws(BackupError) -> [UInt8]?
    ) async throws(BackupError) -> ClusterCommand.Ending {
        // The program may close its input at any time, which must not end this process.
        signal(SIGPIPE, SIG_IGN)
        do {
            let result = try await Subprocess.run(
                .name("sh"),
                arguments: command(program, arguments),
                environment: .inherit.updating(Self.overrides(environment)),
                input: .inputWriter,
                output: .string(limit: Self.outputBytes),
                error: .string(limit: Self.outputBytes)
            ) { execution in
                let writer = execution.standardInputWriter
                while let part = try next() {
                    guard (try? await writer.write(part)) != nil else { break }
                }
                try? await writer.finish()
            }
            let output = [result.standardOutput, result.standardError].compactMap { $0 }.joined()
            return .init(isSuccess: result.terminationStatus.isSuccess, output: output)
        } catch let error as BackupError {
            throw error
        } catch {
            throw BackupError(.failed, "\(program) could not be run: \(error)")
        }
    }

    /// The shell sets the umask, then executes the program, so that only this user can read its files.
    private func command(_ program: String, _ arguments: [String]) -> Arguments {
        Arguments(["-c", "umask 077 && exec \"$@\"", "sh", "\(directory)/\(program)"] + arguments)
    }

    private static func overrides(_ environment: [String: String]) -> [Environment.Key: String?] {
        var overrides: [Environment.Key: String?] = ["LC_ALL": "C.UTF-8"]
        for (name, value) in environment {
            guard let key = Environment.Key(rawValue: name) else { continue }
            overrides[key] = value
        }
        return overrides
    }
}
