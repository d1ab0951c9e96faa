import Glibc
import Subprocess

/// Runs PostgreSQL's programs as the cluster's account.
package struct ClusterCommand {
    /// The maximum output of a program. The error messages of initdb have a few lines.
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

    /// Starts a program that goes on, in a session of its own. Its output is appended to the file `log`.
    ///
    /// - Returns: its process ID.
    /// - Throws: `failed` when it could not be started.
    func start(_ program: String, _ arguments: [String], log: String) async throws(EmbeddedClusterError) -> pid_t {
        // The account opens the log. After a restart of the machine, a process of these two may have the ID in the remains of the former server, which the new
        // server must not take for a running one (`PG_GRANDPARENT_PID` in src/backend/utils/init/miscinit.c).
        let script = """
            log=$1 && shift && export PG_GRANDPARENT_PID=$PPID && { setsid -- "$@" </dev/null >>"$log" 2>&1 & } && echo $!
            """
        let path = "\(binaries.directory)/\(program)"
        let command = ["-c", script, "sh", log, path] + arguments
        let ending = try await Self.run("/bin/sh", command, as: account, in: directory)
        guard ending.isSuccess, let server = pid_t(ending.output.prefix { $0.isNumber }), server > 1 else {
            throw EmbeddedClusterError(.failed, "\(path) could not be started: \(ending.output)")
        }
        return server
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
