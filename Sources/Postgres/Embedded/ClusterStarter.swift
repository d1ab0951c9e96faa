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

    /// - Throws: `EmbeddedClusterError`.
    func start() async throws(EmbeddedClusterError) -> (Postmaster, wasAdopted: Bool) {
        let version = try existingVersion()
        let binaries = try await PostgresBinaries.find(version: version)
        let settings = ClusterSettings(
            layout: layout,
            maximumConnections: options.maximumConnections,
            operatingSystemUser: try ClusterAccount.current().name
        )
        try ClusterFiles.makeDirectory(layout.settings, mode: 0o755, owner: nil)
        try ClusterFiles.makeDirectory(layout.logDirectory, mode: 0o700, owner: account)
        try ClusterFiles.makeDirectory(layout.socketDirectory, mode: 0o700, owner: account)
        if let running = Postmaster.running(in: layout.data) {
            if settings.areCurrent, await answers(within: .seconds(5)) {
                progress("took over the running PostgreSQL (process \(running.processID))")
                return (running, true)
            }
            progress("stopping a PostgreSQL that does not answer (process \(running.processID))")
            try await running.stop(within: options.stopTimeout)
        }
        // Not earlier: if this start were interrupted before the stop, the next one would take over a server that was started with other files.
        try settings.write()
        let command = ClusterCommand(binaries: binaries, account: account, directory: layout.logDirectory)
        if version == nil { try await makeData(command) }
        return (try await startServer(command), false)
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
        try ClusterFiles.makeDirectory(layout.unfinishedData, mode: 0o700, owner: account)
        let ending = try await command.run(
            "initdb",
            [
                "-D", layout.unfinishedData, "-U", ClusterSettings.superuser, "--locale=C.UTF-8", "-E", "UTF8",
                "--auth=peer", "--data-checksums", "--no-instructions", "--no-sync",
            ]
        )
        guard ending.isSuccess else { throw EmbeddedClusterError(.failed, "initdb failed: \(tail(ending.output))") }
        try await flush(layout.unfinishedData, command)
        guard unsafe rename(layout.unfinishedData, layout.data) == 0 else {
            throw EmbeddedClusterError(.failed, "\(layout.data) could not be renamed: \(ClusterFiles.reason())")
        }
    }

    /// Writes the data to the disk: its whole file system at once, because initdb would sync a thousand files one after the other.
    private func flush(_ directory: String, _ command: ClusterCommand) async throws(EmbeddedClusterError) {
        let ending = try await ClusterCommand.run("sync", ["-f", directory], as: account, in: command.directory)
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

    /// Tries until the superuser gets a session.
    ///
    /// - Parameters:
    ///   - timeout: how long it tries.
    ///   - server: it tries no longer than this server runs.
    /// - Returns: whether it did.
    private func answers(within timeout: Duration, from server: Postmaster? = nil) async -> Bool {
        let deadline = ContinuousClock.now + timeout
        let host = layout.socketDirectory.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
        let configuration = PostgresConfiguration(
            "host='\(host)' port=\(ClusterLayout.port) user=\(ClusterSettings.superuser) dbname=postgres"
        )
        var wait = Duration.milliseconds(5)
        while true {
            do throws(PostgresError) {
                let connection = try await PostgresConnection.connect(
                    configuration,
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
