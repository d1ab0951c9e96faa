import FoundationEssentials
import Glibc
import Logging
import PostgresClient

/// Starts the server of a cluster: creates the data, adopts a running server, or starts a new one.
struct ClusterStarter {
    /// How long the remains of a killed server may prevent the start of the next one.
    private static let leftoverTimeout: Duration = .seconds(20)

    let layout: ClusterLayout
    let account: ClusterAccount
    let options: EmbeddedClusterOptions
    let logger: Logger
    let progress: @Sendable (String) -> Void

    /// Where the server's data comes from.
    enum Origin: Sendable {
        /// A running server was taken over.
        case adopted
        /// The data was there.
        case started
        /// The data is new, and not on the disk before `writeNewData`.
        case created
    }

    /// - Parameter createsData: false: missing data is an error.
    /// - Returns: the server, which answers.
    /// - Throws: `EmbeddedClusterError`.
    func start(createsData: Bool = true) async throws(EmbeddedClusterError) -> (Postmaster, Origin) {
        let isUnwritten = FileManager.default.fileExists(atPath: layout.unwrittenMark)
        let version = isUnwritten ? nil : try existingVersion()
        guard version != nil || createsData else {
            throw EmbeddedClusterError(.failed, "\(layout.data) does not contain a complete database")
        }
        let binaries = try await PostgresBinaries.find(version: version)
        let settings = try settings(waitsForDisk: version != nil)
        try ClusterFiles.makeDirectory(layout.settings, mode: 0o755, owner: nil)
        try ClusterFiles.makeDirectory(layout.logDirectory, mode: 0o700, owner: account)
        try ClusterFiles.makeDirectory(layout.socketDirectory, mode: 0o700, owner: account)
        if let running = Postmaster.running(in: layout.data) {
            if !isUnwritten, settings.areCurrent, await answers(within: .seconds(5)) {
                progress("took over the running PostgreSQL (process \(running.processID))")
                return (running, .adopted)
            }
            let which = isUnwritten ? "the PostgreSQL of an interrupted start" : "a PostgreSQL that does not answer"
            progress("stopping \(which) (process \(running.processID))")
            try await running.stop(within: options.stopTimeout)
        }
        // Not earlier: if this start were interrupted before the stop, the next one would take over a server that was started with other files.
        try settings.write()
        let command = ClusterCommand(binaries: binaries, account: account, directory: layout.logDirectory)
        if version == nil { try await makeData(command) }
        return (try await startServer(command), version == nil ? .created : .started)
    }

    private func settings(waitsForDisk: Bool) throws(EmbeddedClusterError) -> ClusterSettings {
        ClusterSettings(
            layout: layout,
            maximumConnections: options.maximumConnections,
            operatingSystemUser: try ClusterAccount.current().name,
            waitsForDisk: waitsForDisk
        )
    }

    /// Writes the data of a server that has just created them to the disk, and lets PostgreSQL wait for the disk from now on.
    ///
    /// PostgreSQL did not wait for the disk before this call: versions 13 to 16 would have written each of the three hundred new indexes separately.
    func writeNewData(_ server: PostgresConnection) async throws(EmbeddedClusterError) {
        try settings(waitsForDisk: true).write()
        do throws(PostgresError) {
            _ = try await server.run(Transaction(tenant: nil, [Statement("SELECT pg_reload_conf()")]))
            // A new session has the new setting only after the server's main process has read it and has notified all other processes.
            let deadline = ContinuousClock.now + options.startTimeout
            while try await !newSessionWaitsForDisk() {
                guard ContinuousClock.now < deadline else { throw PostgresError(.timeout) }
            }
        } catch {
            let reason = error.debugDescription
            throw EmbeddedClusterError(.failed, "the new database cannot write durably: \(reason)")
        }
        try await flush(layout.data)
        guard unsafe unlink(layout.unwrittenMark) == 0 else {
            let reason = ClusterFiles.reason()
            throw EmbeddedClusterError(.failed, "\(layout.unwrittenMark) could not be removed: \(reason)")
        }
        // Otherwise the mark could reappear after a loss of power, and the next start would discard the data.
        try ClusterFiles.sync(layout.data)
    }

    private func newSessionWaitsForDisk() async throws(PostgresError) -> Bool {
        let session = try await PostgresConnection.connect(superuser, logger: logger)
        let look = Statement("SELECT 1 WHERE current_setting('fsync')::boolean")
        let found = try await session.run(Transaction(tenant: nil, [look])).first?.isEmpty == false
        await session.close()
        return found
    }

    /// Returns the major version of the existing data; nil without data.
    private func existingVersion() throws(EmbeddedClusterError) -> Int? {
        guard FileManager.default.fileExists(atPath: layout.data) else { return nil }
        let text = ClusterFiles.read(layout.versionFile) ?? ""
        guard let version = Int(text.prefix { $0.isASCII && $0.isNumber }) else {
            throw EmbeddedClusterError(
                .foreignDirectory,
                "\(layout.data) has no readable PG_VERSION: it is not a cluster, or a damaged one"
            )
        }
        return version
    }

    private func makeData(_ command: ClusterCommand) async throws(EmbeddedClusterError) {
        progress("creating a private PostgreSQL \(command.binaries.version) cluster in \(layout.directory)")
        // An interrupted start left the directory. Nothing in it was ever served.
        try? FileManager.default.removeItem(atPath: layout.unfinishedData)
        if FileManager.default.fileExists(atPath: layout.unwrittenMark) {
            progress("moving the database of an interrupted first start to \(layout.discardedData)")
            try? FileManager.default.removeItem(atPath: layout.discardedData)
            try move(layout.data, to: layout.discardedData)
        }
        try ClusterFiles.makeDirectory(layout.unfinishedData, mode: 0o700, owner: account)
        // C.UTF-8 orders texts by their bytes too, but PostgreSQL calls the C library for each comparison in it, and each search of an index of texts makes some twenty.
        let ending = try await command.run(
            "initdb",
            [
                "-D", layout.unfinishedData, "-U", ClusterSettings.superuser, "--locale=C.UTF-8", "--lc-collate=C",
                "-E", "UTF8", "--auth=peer", "--data-checksums", "--no-instructions", "--no-sync",
            ]
        )
        guard ending.isSuccess else { throw EmbeddedClusterError(.failed, "initdb failed: \(tail(ending.output))") }
        // The mark must be on the disk before the data get their name. Otherwise, after a loss of power, incomplete data would be taken for complete data.
        try ClusterFiles.write("", to: layout.unfinishedMark)
        try ClusterFiles.sync(layout.unfinishedData)
        try move(layout.unfinishedData, to: layout.data)
    }

    private func move(_ old: String, to new: String) throws(EmbeddedClusterError) {
        guard unsafe rename(old, new) == 0 else {
            throw EmbeddedClusterError(.failed, "\(old) could not be moved to \(new): \(ClusterFiles.reason())")
        }
    }

    /// Writes the data to the disk: its whole file system at once, because PostgreSQL would sync a thousand files one after the other.
    private func flush(_ directory: String) async throws(EmbeddedClusterError) {
        let ending = try await ClusterCommand.run("sync", ["-f", directory], as: account, in: layout.logDirectory)
        guard ending.isSuccess else {
            throw EmbeddedClusterError(.failed, "\(directory) could not be written to the disk: \(tail(ending.output))")
        }
    }

    /// Starts the server in a separate session, as a child of init: it does not receive signals of the terminal, does not end with the gateway, and an adopted
    /// server is like a started one.
    private func startServer(_ command: ClusterCommand) async throws(EmbeddedClusterError) -> Postmaster {
        rotateLog()
        let hadPredecessor = FileManager.default.fileExists(atPath: layout.postmasterFile)
        progress("starting PostgreSQL \(command.binaries.version)")
        let deadline = ContinuousClock.now + Self.leftoverTimeout
        while true {
            if let postmaster = try await launch(command) { return postmaster }
            // The processes of a killed server hold its shared memory until they notice its end. Only then another server can start.
            guard hadPredecessor, ContinuousClock.now < deadline else {
                throw EmbeddedClusterError(
                    .failed,
                    "PostgreSQL did not start: \(tail(ClusterFiles.read(layout.log) ?? ""))"
                )
            }
            do {
                try await Task.sleep(for: .milliseconds(200))
            } catch {
                throw EmbeddedClusterError(.failed, "the start was cancelled")
            }
        }
    }

    /// Starts the server and waits until it answers. Nil: it has ended before.
    ///
    /// Not by pg_ctl, which looks ten times per second whether the server answers.
    private func launch(_ command: ClusterCommand) async throws(EmbeddedClusterError) -> Postmaster? {
        let server = try await command.start(
            "postgres",
            ["-D", layout.data, "-c", "config_file=\(layout.configuration)"],
            log: layout.log
        )
        let started = Postmaster(processID: server, socketDirectory: layout.socketDirectory)
        if await answers(within: options.startTimeout, from: started) { return Postmaster.running(in: layout.data) }
        guard started.isAlive else { return nil }
        throw EmbeddedClusterError(
            .failed,
            "PostgreSQL started, but rejects the gateway's connections; see \(layout.log)"
        )
    }

    /// The superuser's sessions. `template1` is in every cluster.
    private var superuser: PostgresConfiguration {
        PostgresConfiguration(layout.connectionString(user: ClusterSettings.superuser, database: "template1"))
    }

    /// Tries until the superuser gets a session.
    ///
    /// - Parameters:
    ///   - timeout: how long it tries.
    ///   - server: it tries no longer than this server runs.
    /// - Returns: whether it did.
    private func answers(within timeout: Duration, from server: Postmaster? = nil) async -> Bool {
        let deadline = ContinuousClock.now + timeout
        var wait = Duration.milliseconds(5)
        while true {
            do throws(PostgresError) {
                let connection = try await PostgresConnection.connect(
                    superuser,
                    logger: logger,
                    deadline: deadline
                )
                _ = try await connection.run(Transaction(tenant: nil, [Statement("SELECT 1")]), timeout: timeout)
                return true
            } catch {
                guard error.isRetriable, ContinuousClock.now < deadline, server?.isAlive != false else { return false }
                // A server that recovers logs each connection that it refuses.
                wait = error.code == .shuttingDown ? .milliseconds(100) : .milliseconds(5)
            }
            do { try await Task.sleep(for: wait) } catch { return false }
        }
    }

    private func rotateLog() {
        var status = stat()
        guard unsafe stat(layout.log, &status) == 0, status.st_size > options.logBytes else { return }
        _ = unsafe rename(layout.log, layout.log + ".1")
    }

    /// The last lines of a log, which contain the cause of the failure.
    private func tail(_ text: String) -> String {
        text.split(separator: "\n").suffix(8).joined(separator: "\n")
    }
}
