import Glibc

/// The operating-system account under which a cluster runs: that of the gateway, or another one if the gateway runs as root, which PostgreSQL refuses.
package struct ClusterAccount: Sendable, Equatable {
    package var name: String
    var userID: uid_t
    var groupID: gid_t

    /// Whether processes must switch to this account.
    var differsFromOurs: Bool { userID != geteuid() }

    /// Chooses the account: for root, `postgres` if the machine has it, otherwise `nobody`; for all other users, the current account.
    ///
    /// - Throws: `noAccess` when the account has no name, because PostgreSQL's peer authentication compares names.
    static func choose() throws(EmbeddedClusterError) -> ClusterAccount {
        if geteuid() != 0 { return try current() }
        for name in ["postgres", "nobody"] {
            if let account = named(name) { return account }
        }
        throw EmbeddedClusterError(
            .noAccess,
            "PostgreSQL does not run as root, and there is neither an account postgres nor nobody"
        )
    }

    /// Returns the account of this process.
    ///
    /// - Throws: `noAccess` when it has no name.
    static func current() throws(EmbeddedClusterError) -> ClusterAccount {
        guard let account = unsafe account(getpwuid(geteuid())) else {
            throw EmbeddedClusterError(.noAccess, "user \(geteuid()) has no name; PostgreSQL needs one (/etc/passwd)")
        }
        return account
    }

    static func named(_ name: String) -> ClusterAccount? { unsafe account(getpwnam(name)) }

    static func numbered(_ userID: uid_t) -> ClusterAccount? { unsafe account(getpwuid(userID)) }

    /// Copies the entry, which the C library overwrites at its next call.
    private static func account(_ entry: UnsafeMutablePointer<passwd>?) -> ClusterAccount? {
        guard let entry = unsafe entry, let name = unsafe entry.pointee.pw_name else { return nil }
        return ClusterAccount(
            name: unsafe String(cString: name),
            userID: unsafe entry.pointee.pw_uid,
            groupID: unsafe entry.pointee.pw_gid
        )
    }
}
