import DatabaseSchema
import Foundation

/// The server's configuration files, written at each start: they belong to the program, not to the data.
struct ClusterSettings {
    /// The superuser, only for bootstrap, migrations and backups.
    static let superuser = "gateway_admin"

    var layout: ClusterLayout
    var maximumConnections: Int

    /// The system user that may connect to the socket: the user that runs the gateway.
    var operatingSystemUser: String

    /// Whether PostgreSQL waits for the disk. False only while new data is made, which is deleted if that is interrupted.
    var waitsForDisk = true

    /// `postgresql.conf`: includes the file of initdb (locale, memory), then overrides the settings that the gateway requires.
    var configuration: String {
        """
        # Written by push-gateway at each start.
        include '\(quoted(layout.data))/postgresql.conf'
        data_directory = '\(quoted(layout.data))'
        hba_file = '\(quoted(layout.hostAuthentication))'
        ident_file = '\(quoted(layout.userMap))'
        cluster_name = 'push-gateway'

        # A socket that one system user can reach, and never a port.
        listen_addresses = ''
        unix_socket_directories = '\(quoted(layout.socketDirectory))'
        unix_socket_permissions = 0777
        port = \(ClusterLayout.port)
        max_connections = \(maximumConnections)

        # A 2xx means: on disk.
        fsync = \(waitsForDisk ? "on" : "off")
        autovacuum = \(waitsForDisk ? "on" : "off")
        full_page_writes = on
        synchronous_commit = on

        # No statement and no row in the log: both may hold secrets.
        logging_collector = off
        log_destination = 'stderr'
        log_min_messages = warning
        log_min_error_statement = panic
        log_error_verbosity = terse
        log_timezone = 'UTC'
        timezone = 'UTC'

        # Statements here are short; compiling one costs more than running it.
        jit = off

        # A campaign writes a gigabyte of log within a minute. With the defaults that is a checkpoint every few seconds, after each of which every
        # page that is touched goes into the log whole.
        shared_buffers = '\(Self.bufferMegabytes(ofMemory: ProcessInfo.processInfo.physicalMemory))MB'
        max_wal_size = '4GB'
        checkpoint_timeout = '15min'
        wal_compression = on

        # The queue's rows live for seconds, and a plan made without statistics may walk all that are dead.
        autovacuum_naptime = '15s'

        """
    }

    /// An eighth of the memory, between PostgreSQL's default of 128 MB and 1 GB: other programs run on the machine, and more than the hot pages of the
    /// indexes has no benefit.
    static func bufferMegabytes(ofMemory bytes: UInt64) -> UInt64 { min(1024, max(128, bytes >> 23)) }

    /// `pg_hba.conf`.
    ///
    /// Peer instead of trust: the account `nobody` may run other programs, which could reach the socket.
    var hostAuthentication: String { "local all all peer map=gateway\n" }

    /// `pg_ident.conf`: the roles that the gateway's system user may assume.
    var userMap: String {
        let roles = [Self.superuser, GatewayRole.call.rawValue, GatewayRole.engine.rawValue]
        return roles.map { "gateway \"\(operatingSystemUser)\" \($0)\n" }.joined()
    }

    /// Whether the files are those that a running server was started with. The rules of access count too: a server keeps the ones that it has read.
    var areCurrent: Bool {
        ClusterFiles.read(layout.configuration) == configuration
            && ClusterFiles.read(layout.hostAuthentication) == hostAuthentication
            && ClusterFiles.read(layout.userMap) == userMap
    }

    /// Writes the three files to a place that the cluster's account can read.
    ///
    /// - Throws: `failed`.
    func write() throws(EmbeddedClusterError) {
        try ClusterFiles.write(configuration, to: layout.configuration)
        try ClusterFiles.write(hostAuthentication, to: layout.hostAuthentication)
        try ClusterFiles.write(userMap, to: layout.userMap)
    }

    private func quoted(_ path: String) -> String { path.replacing("'", with: "''") }
}
