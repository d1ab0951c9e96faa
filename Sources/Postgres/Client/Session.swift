import CLinuxEvents
import Glibc
import Logging

/// One open session with the server: sends commands, waits, reads results, and records whether the session can be used again.
///
/// Made and used on one thread, by `PostgresConnection` or `PostgresListener`. Other threads access it only through
/// its `CancellationSignal`.
final class PostgresSession {
    let connection: PGConnection
    let cancellation: CancellationSignal
    var prepared = PreparedStatements()

    /// False once the state of the session is unknown or the server is gone. This state is final: open another session.
    var isUsable = true

    private let cancelHandle: CancelHandle?

    /// How often the input of an idle session is read. Each read takes everything that has arrived, so the second read normally finds the end of the stream.
    private static let idleReadCount = 8

    /// Opens a session.
    ///
    /// - Throws: `cannotConnect`, `authenticationFailed`, `shuttingDown`, `overloaded`, `timeout`, `cancelled`.
    init(_ configuration: PostgresConfiguration, cancellation: CancellationSignal, deadline: Deadline, logger: Logger)
        throws(PostgresError)
    {
        self.cancellation = cancellation
        connection = try Self.connect(try Self.parameters(of: configuration), cancellation, deadline, logger)
        cancelHandle = connection.makeCancelHandle()
        guard connection.enterPipeline() else { throw PostgresError(.other, reason: "no pipeline mode") }
    }

    static func parameters(of configuration: PostgresConfiguration) throws(PostgresError)
        -> [(keyword: String, value: String)]
    {
        var parameters = try PGConnection.parse(configuration.connectionString)
        func setDefault(_ keyword: String, _ value: String) {
            if !parameters.contains(where: { $0.keyword == keyword }) { parameters.append((keyword, value)) }
        }
        setDefault("application_name", configuration.applicationName)
        // A firewall may drop an idle session silently: the first probe is sent after 30 s, and the session ends 30 s later.
        setDefault("keepalives_idle", "30")
        setDefault("keepalives_interval", "10")
        setDefault("keepalives_count", "3")
        setDefault("tcp_user_timeout", String(configuration.tcpUserTimeout.milliseconds))
        let mode = PostgresConfiguration.impliedTLSMode { setting in
            parameters.first { $0.keyword == setting.keyword }?.value
        }
        if let mode { setDefault(PostgresConfiguration.TLSSetting.mode.keyword, mode) }
        let callers = parameters.first { $0.keyword == "options" }?.value
        parameters.removeAll { $0.keyword == "options" || $0.keyword == "client_encoding" }
        parameters.append(("options", [configuration.options, callers].compactMap { $0 }.joined(separator: " ")))
        parameters.append(("client_encoding", "UTF8"))
        return parameters
    }

    /// Connects to the first server of the list that accepts the session. Each server gets an equal share of the remaining time.
    private static func connect(
        _ parameters: HostList.Parameters,
        _ cancellation: CancellationSignal,
        _ deadline: Deadline,
        _ logger: Logger
    ) throws(PostgresError) -> PGConnection {
        let list = HostList(parameters)
        var failure = PostgresError(.cannotConnect, reason: "no server is named")
        for (tried, index) in list.order.enumerated() {
            let now = ContinuousClock.now
            let share = (deadline.instant - now) / (list.servers.count - tried)
            do throws(PostgresError) {
                let connection = try PGConnection(parameters: list.servers[index], logger: logger)
                try open(connection, cancellation, Deadline(until: now + share, ticket: deadline.ticket))
                list.answered(index)
                return connection
            } catch {
                if error.code == .cancelled { throw error }
                // Of several errors, the one that an administrator can fix is reported.
                if tried == 0 || failure.code != .authenticationFailed { failure = error }
            }
        }
        throw failure
    }

    private static func open(_ connection: PGConnection, _ cancellation: CancellationSignal, _ deadline: Deadline)
        throws(PostgresError)
    {
        // libpq requires to start as if the last poll had returned "writing" (libpq manual §34.1, PQconnectPoll).
        var progress = PGConnection.Progress.wantsWrite
        if connection.isBad { progress = .failed }
        while true {
            switch progress {
            case .open: return
            case .failed: throw connectError(connection.errorMessage)
            case .wantsRead: try waitToOpen(connection, POLLIN, cancellation, deadline)
            case .wantsWrite: try waitToOpen(connection, POLLOUT, cancellation, deadline)
            }
            progress = connection.pollConnect()
        }
    }

    private static func waitToOpen(
        _ connection: PGConnection,
        _ events: Int32,
        _ cancellation: CancellationSignal,
        _ deadline: Deadline
    ) throws(PostgresError) {
        while true {
            switch deadline.verdict(now: .now, isCancelled: cancellation.isCancelled(deadline.ticket)) {
            case .interrupt, .giveUp: throw PostgresError(deadline.interruption ?? .timeout, reason: "connecting")
            case .wait(let milliseconds):
                if Poller.wait(connection.socket, for: events, orFor: cancellation, milliseconds: milliseconds) {
                    return
                }
            }
        }
    }

    /// Reads the SQLSTATE from `… FATAL:  28P01`. A message without one means that the server was not reached.
    static func connectError(_ message: String) -> PostgresError {
        let trimmed = message.split(whereSeparator: \.isWhitespace).last.map(String.init) ?? ""
        let isState =
            trimmed.utf8.count == 5 && trimmed.utf8.allSatisfy { (48...57).contains($0) || (65...90).contains($0) }
        guard isState else { return PostgresError(.cannotConnect, detail: message) }
        let code = PostgresError.Code.of(sqlState: trimmed)
        switch code {
        case .authenticationFailed, .shuttingDown, .overloaded:
            return PostgresError(code, sqlState: trimmed, detail: message)
        default:
            return PostgresError(.cannotConnect, sqlState: trimmed, detail: message)
        }
    }

    /// Whether the server closed the connection or sent an error while the session was idle.
    func isStale() -> Bool {
        guard isUsable else { return true }
        // A changed parameter or a notice is harmless. The end of the stream is visible only after the last bytes are read.
        for _ in 0..<Self.idleReadCount
        where isUsable && Poller.wait(connection.socket, for: POLLIN, orFor: nil, milliseconds: 0) {
            if !connection.consumeInput() || connection.isBad { isUsable = false }
        }
        return !isUsable
    }

    // MARK: Waiting

    /// Waits until the socket is ready for one of `events`, and sends queued output meanwhile.
    ///
    /// When the deadline passes, another thread sends a cancel request to the server, and a short grace period begins.
    /// - Throws: `connectionLost` or, after the grace period, the reason of the interruption. The session is then unusable.
    func wait(for events: Int32, _ deadline: Deadline) throws(PostgresError) {
        while true {
            switch deadline.verdict(now: .now, isCancelled: cancellation.isCancelled(deadline.ticket)) {
            case .interrupt: askToCancel()
            case .giveUp:
                isUsable = false
                throw PostgresError(deadline.interruption ?? .timeout)
            case .wait(let milliseconds):
                if Poller.wait(connection.socket, for: events, orFor: cancellation, milliseconds: milliseconds) {
                    return
                }
            }
        }
    }

    /// Sends a cancel request. A late cancellation could hit the next statement, so the session is not used again afterwards.
    private func askToCancel() {
        isUsable = false
        guard let cancelHandle else { return }
        // If no thread can be created, the end of the grace period ends the session.
        _ = NativeThread.start { cancelHandle.cancel() }
    }

    /// Sends the output that libpq holds. It reads meanwhile, so that both sides do not wait for each other.
    func flush(_ deadline: Deadline) throws(PostgresError) {
        while true {
            switch connection.flush() {
            case 0: return
            case 1:
                try wait(for: POLLIN | POLLOUT, deadline)
                try consume()
            default: throw lost()
            }
        }
    }

    /// The next result of the running command; nil at its end.
    func nextResult(_ deadline: Deadline) throws(PostgresError) -> PGResult? {
        while connection.isBusy {
            try flush(deadline)
            guard connection.isBusy else { break }
            try wait(for: POLLIN, deadline)
            try consume()
        }
        return connection.nextResult()
    }

    func consume() throws(PostgresError) {
        guard connection.consumeInput() else { throw lost() }
    }

    /// Marks the session as lost and returns the error.
    func lost() -> PostgresError {
        isUsable = false
        return PostgresError(.connectionLost, detail: connection.errorMessage)
    }
}

/// Polls a socket and a cancellation signal at once.
enum Poller {
    /// Returns true when the socket is ready for one of `events` or failed; false after a timeout, a signal or a cancellation.
    static func wait(_ socket: Int32, for events: Int32, orFor cancellation: CancellationSignal?, milliseconds: Int32)
        -> Bool
    {
        guard socket >= 0 else { return true }  // The next call to libpq reports the error.
        var descriptors = [
            pollfd(fd: socket, events: Int16(events), revents: 0),
            pollfd(fd: cancellation?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        let ready = unsafe poll(&descriptors, nfds_t(descriptors.count), milliseconds)
        guard ready > 0 else { return false }
        if descriptors[1].revents != 0 { cancellation?.clear() }
        return descriptors[0].revents != 0
    }
}
