import FoundationEssentials
import Glibc

/// Gives up the rights of root: the program runs again, in the same process, as another account. That happens before anything else, so that no part of the
/// program that handles calls ever had these rights.
package enum ProcessAccount {
    /// The account for a command that root started.
    ///
    /// - Parameters:
    ///   - name: the account that the operator chose; nil: none.
    ///   - standard: the account to use for a new directory, if the machine has it.
    ///   - directory: the data directory. One that exists keeps its owner.
    /// - Returns: nil: the command keeps its account, because root did not start it, or because nobody else is to run it.
    /// - Throws: `noAccess` for a name that the machine does not know.
    package static func toBecome(
        _ name: String?,
        standard: String,
        directory: String
    ) throws(EmbeddedClusterError) -> ClusterAccount? {
        guard geteuid() == 0 else { return nil }
        if let name {
            guard let account = ClusterAccount.named(name) else {
                throw EmbeddedClusterError(.noAccess, "run-as: this machine has no account \(name)")
            }
            return account.userID == 0 ? nil : account
        }
        guard let owner = owner(of: directory) else { return ClusterAccount.named(standard) }
        guard owner != 0 else { return nil }
        guard let account = ClusterAccount.numbered(owner) else {
            throw EmbeddedClusterError(
                .noAccess,
                "\(directory) belongs to user \(owner), who has no name (/etc/passwd)"
            )
        }
        return account
    }

    /// Creates the data directory, or gives an existing one to the account.
    ///
    /// - Throws: `inUse` when the embedded server runs in it, `failed`.
    package static func assign(_ directory: String, to account: ClusterAccount) async throws(EmbeddedClusterError) {
        if owner(of: directory) == account.userID { return }
        try ClusterFiles.makeParents(of: directory)
        if unsafe mkdir(directory, 0o700) != 0, errno != EEXIST {
            throw EmbeddedClusterError(.failed, "\(directory) could not be created: \(ClusterFiles.reason())")
        }
        if let running = Postmaster.running(in: "\(directory)/postgres/data") {
            throw EmbeddedClusterError(
                .inUse,
                "\(directory) cannot be given to \(account.name) while its PostgreSQL runs (process \(running.processID))"
            )
        }
        let identity = "\(account.userID):\(account.groupID)"
        let ending = try await ClusterCommand.run("chown", ["-Rh", "--", identity, directory], as: nil, in: "/")
        guard ending.isSuccess else {
            throw EmbeddedClusterError(
                .failed,
                "\(directory) could not be given to \(account.name): \(ending.output)"
            )
        }
    }

    /// Runs this program with its arguments again as `account`, in this process. Of root's rights, it keeps that to listen on ports below 1024.
    ///
    /// - Returns: never, if it succeeds.
    /// - Throws: `failed`.
    package static func become(_ account: ClusterAccount) throws(EmbeddedClusterError) {
        guard let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
            throw EmbeddedClusterError(.failed, "/proc/self/exe cannot be read")
        }
        let arguments =
            [
                "setpriv", "--reuid=\(account.userID)", "--regid=\(account.groupID)", "--init-groups",
                "--inh-caps=-all,+net_bind_service", "--ambient-caps=-all,+net_bind_service",
                "--bounding-set=-all,+net_bind_service", "--no-new-privs", "--", program,
            ] + CommandLine.arguments.dropFirst()
        var pointers = unsafe arguments.map { unsafe strdup($0) } + [nil]
        _ = unsafe execvp("setpriv", &pointers)
        let reason = ClusterFiles.reason()
        unsafe pointers.forEach { unsafe free($0) }
        throw EmbeddedClusterError(.failed, "setpriv could not be started: \(reason)")
    }

    /// Nil: the directory does not exist.
    private static func owner(of directory: String) -> uid_t? {
        var status = stat()
        return unsafe stat(directory, &status) == 0 ? status.st_uid : nil
    }
}
