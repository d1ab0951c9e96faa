import FoundationEssentials

/// The paths of a cluster.
///
/// ```
/// <directory>/              the gateway's; 0711, so that the account can enter
///   push-gateway-cluster    marker: the gateway manages this directory
///   gateway.lock            locked by the gateway that uses the cluster
///   settings/               the gateway's: postgresql.conf, pg_hba.conf, pg_ident.conf, written at each start
///   data/                   the account's: the data directory of initdb
///   data.discarded/         the data of a first start that was interrupted
///   log/postgres.log        the account's
///   run/                    the account's, 0700: the socket
/// ```
struct ClusterLayout: Sendable, Equatable {
    /// The path of a socket must fit `sockaddr_un.sun_path` with its NUL (108 bytes on Linux).
    static let socketPathBytes = 107

    /// The number in the name of the socket. The server does not listen on a port.
    static let port = 5432

    var directory: String

    /// The socket directory to use when the path of the cluster is too long for a socket.
    var shortDirectory: String

    init(directory: String, userID: UInt32, runtimeDirectory: String?) {
        var path = directory
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        self.directory = path
        let base = runtimeDirectory ?? "/tmp"
        shortDirectory = "\(base)/push-gateway-\(userID)-\(Self.fingerprint(of: path))"
    }

    var marker: String { "\(directory)/push-gateway-cluster" }
    var lock: String { "\(directory)/gateway.lock" }
    var settings: String { "\(directory)/settings" }
    var configuration: String { "\(settings)/postgresql.conf" }
    var hostAuthentication: String { "\(settings)/pg_hba.conf" }
    var userMap: String { "\(settings)/pg_ident.conf" }
    var data: String { "\(directory)/data" }

    /// initdb works here, and the result is renamed to `data`, so that an incomplete cluster never has that name.
    var unfinishedData: String { "\(directory)/data.new" }

    /// Exists while `data` is new and PostgreSQL does not wait for the disk. It is in the data, so that it is with them wherever they are copied.
    var unwrittenMark: String { "\(data)/\(Self.unwritten)" }
    private static let unwritten = "push-gateway-unwritten"
    /// The mark before the data get their name.
    var unfinishedMark: String { "\(unfinishedData)/\(Self.unwritten)" }

    /// A start that finds the mark puts the data here. No client has used them, but that is not certain: an earlier version of the program ignores the mark.
    var discardedData: String { "\(directory)/data.discarded" }

    var logDirectory: String { "\(directory)/log" }
    var log: String { "\(logDirectory)/postgres.log" }
    var versionFile: String { "\(data)/PG_VERSION" }
    var postmasterFile: String { "\(data)/postmaster.pid" }

    /// The directory of the socket.
    var socketDirectory: String {
        let usual = "\(directory)/run"
        return Self.socketPath(in: usual).utf8.count <= Self.socketPathBytes ? usual : shortDirectory
    }

    static func socketPath(in directory: String) -> String { "\(directory)/.s.PGSQL.\(port)" }

    /// FNV-1a, 64 bits. It only has to distinguish directories.
    private static func fingerprint(of text: String) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        return String(hash, radix: 16)
    }
}
