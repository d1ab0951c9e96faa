import Glibc
import Subprocess

/// Runs PostgreSQL's programs as the cluster's account.
package struct ClusterCommand {
    /// The maximum output of a program. The error messages of initdb and pg_ctl have a few lines.
    private static let outputBytes = 64 << 10

    var binaries: PostgresBinaries
    var account: ClusterAccount

    /// The working directory of the program. The account must be able to enter it.
    var directory: String

    /// The exit status and output of a program.
    package struct Ending: Sendable {
        package var isSuccess: Bool
        package var output: String

        package init(isSuccess: Bool, output: String) {
            self.isSuccess = isSuccess
            self.output = output
        }
    }

    /// Runs a program to its end.
    ///
    /// - Throws: `failed` when the program could not be started.
    func run(_ program: String, _ arguments: [String]) async throws(EmbeddedClusterError) -> Ending {
        try await Self.run("\(binaries.directory)/\(program)", arguments, as: account, in: directory)
    }

    /// Runs a program by path.
    ///
    /// - Throws: `failed` when the program could not be started.
    package static func run(_ path: String, _ arguments: [String], as account: ClusterAccount?, in directory: String)
        async throws(EmbeddedClusterError) -> Ending
    {
        var options = PlatformOptions()
        // A separate session, so that ^C at the terminal does not reach PostgreSQL before the gateway has drained.
        options.createSession = true
        // `setpriv` changes the user after exec. Changing it between fork and exec (`PlatformOptions.userID`) calls glibc's setgroups in a copy of a process
        // with many threads, where a lock that another thread held is never released. It was observed as a child that never starts.
        var command = [path] + arguments
        if let account, account.differsFromOurs {
            let identity = ["--reuid=\(account.userID)", "--regid=\(account.groupID)", "--clear-groups"]
            command = ["setpriv"] + identity + ["--"] + command
        }
        // The shell sets umask and directory, then executes the program. The environment of the gateway is not passed on: PGDATA and
        // PGOPTIONS would mislead the server, and the server must not get secrets.
        let script = "umask 077 && cd \"$1\" && shift && exec \"$@\""
        do {
            let result = try await Subprocess.run(
                .name("sh"),
                arguments: Arguments(["-c", script, "sh", directory] + command),
                environment: .custom(["PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"]),
                platformOptions: options,
                output: .string(limit: outputBytes),
                error: .string(limit: outputBytes)
            )
            let output = [result.standardOutput, result.standardError].compactMap { $0 }.joined()
            return Ending(isSuccess: result.terminationStatus.isSuccess, output: output)
        } catch {
            throw EmbeddedClusterError(.failed, "\(path) could not be started: \(error)")
        }
    }
}
