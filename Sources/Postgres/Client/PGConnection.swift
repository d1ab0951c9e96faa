import CPQ
import Logging

/// Owns one `PGconn` and wraps its functions in Swift types. Used by one thread; only a `CancelHandle` may be passed to another thread.
@safe final class PGConnection {
    private let raw: OpaquePointer

    /// Receives notices. libpq keeps a plain pointer to it, so it lives as long as `raw`.
    private let notices: NoticeSink

    /// Starts to connect; `pollConnect` continues. Host names are resolved here, which blocks.
    ///
    /// - Throws: `cannotConnect` for a malformed string, or without memory.
    init(parameters: [(keyword: String, value: String)], logger: Logger) throws(PostgresError) {
        let keywords = CStrings(parameters.map(\.keyword))
        let values = CStrings(parameters.map(\.value))
        let handle = unsafe keywords.withPointers { keywords in
            unsafe values.withPointers { values in unsafe PQconnectStartParams(keywords, values, 0) }
        }
        guard let handle = unsafe handle else { throw PostgresError(.cannotConnect, reason: "out of memory") }
        unsafe raw = unsafe handle
        notices = NoticeSink(logger)
        // Until the session is open, errors have the form "FATAL:  28P01": libpq 15 has no other way to return their SQLSTATE.
        unsafe PQsetErrorVerbosity(raw, PQERRORS_SQLSTATE)
        unsafe PQsetNoticeReceiver(raw, receiveNotice, Unmanaged.passUnretained(notices).toOpaque())
    }

    deinit { unsafe PQfinish(raw) }

    /// The state of the socket that the next step of connecting needs.
    enum Progress { case wantsRead, wantsWrite, open, failed }

    func pollConnect() -> Progress {
        switch unsafe PQconnectPoll(raw) {
        case PGRES_POLLING_READING: return .wantsRead
        case PGRES_POLLING_WRITING: return .wantsWrite
        case PGRES_POLLING_OK:
            unsafe PQsetErrorVerbosity(raw, PQERRORS_DEFAULT)
            return unsafe PQsetnonblocking(raw, 1) == 0 ? .open : .failed
        default: return .failed
        }
    }

    /// Returns -1 when the connection has no socket.
    var socket: Int32 { unsafe PQsocket(raw) }
    var isBad: Bool { unsafe PQstatus(raw) == CONNECTION_BAD }
    var isIdle: Bool { unsafe PQtransactionStatus(raw) == PQTRANS_IDLE }
    var isInPipeline: Bool { unsafe PQpipelineStatus(raw) != PQ_PIPELINE_OFF }

    /// The last error message of libpq. It may contain host names, role names and values, so it must not be shown to everyone.
    var errorMessage: String {
        guard let text = unsafe PQerrorMessage(raw) else { return "" }
        return unsafe String(cString: text)
    }

    func enterPipeline() -> Bool { unsafe PQenterPipelineMode(raw) == 1 }
    func exitPipeline() -> Bool { unsafe PQexitPipelineMode(raw) == 1 }
    func pipelineSync() -> Bool { unsafe PQpipelineSync(raw) == 1 }

    /// Sends many statements by the simple protocol, with text results. Not in pipeline mode.
    func sendScript(_ sql: String) -> Bool { unsafe PQsendQuery(raw, sql) == 1 }

    /// Sends one statement without parameters, without preparing it.
    func sendControl(_ sql: String) -> Bool { unsafe PQsendQueryParams(raw, sql, 0, nil, nil, nil, nil, 1) == 1 }

    func sendPrepare(name: String, sql: String, types: [UInt32]) -> Bool {
        unsafe PQsendPrepare(raw, name, sql, Int32(types.count), types) == 1
    }

    /// Runs a prepared statement with binary results.
    func sendPrepared(name: String, parameters: EncodedParameters) -> Bool {
        unsafe parameters.withPointers { count, values, lengths, formats in
            unsafe PQsendQueryPrepared(raw, name, count, values, lengths, formats, 1) == 1
        }
    }

    /// Returns 0 when everything is sent, 1 when the socket must become writable first, -1 on failure.
    func flush() -> Int32 { unsafe PQflush(raw) }
    func consumeInput() -> Bool { unsafe PQconsumeInput(raw) == 1 }
    var isBusy: Bool { unsafe PQisBusy(raw) == 1 }

    /// Returns the next result, or nil at the end of a command. Blocks unless `isBusy` is false.
    func nextResult() -> PGResult? {
        guard let result = unsafe PQgetResult(raw) else { return nil }
        return unsafe PGResult(result)
    }

    /// Ends a COPY with a failure. Returns 1 when this is queued, 0 when the socket must become writable first, -1 on failure.
    func putCopyEnd(failing reason: String) -> Int32 { unsafe PQputCopyEnd(raw, reason) }

    /// Returns a copy of the next notification that `consumeInput` has read.
    func nextNotification() -> (channel: String, payload: String)? {
        guard let notification = unsafe PQnotifies(raw) else { return nil }
        defer { unsafe PQfreemem(notification) }
        let channel = unsafe String(cString: notification.pointee.relname)
        return (channel, unsafe String(cString: notification.pointee.extra))
    }

    /// Returns a handle with which another thread can cancel the statement that runs here.
    func makeCancelHandle() -> CancelHandle? {
        guard let handle = unsafe PQgetCancel(raw) else { return nil }
        return unsafe CancelHandle(handle)
    }
}

extension PGConnection {
    /// Parses a URL or conninfo string into keywords and values.
    ///
    /// - Throws: `cannotConnect`. The error message of libpq may quote a password, so it is dropped.
    static func parse(_ connectionString: String) throws(PostgresError) -> [(keyword: String, value: String)] {
        guard let options = unsafe PQconninfoParse(connectionString, nil) else {
            throw PostgresError(.cannotConnect, reason: "malformed connection string")
        }
        defer { unsafe PQconninfoFree(options) }
        var found: [(String, String)] = []
        var option = unsafe options
        while let keyword = unsafe option.pointee.keyword {
            if let value = unsafe option.pointee.val {
                unsafe found.append((String(cString: keyword), String(cString: value)))
            }
            unsafe option += 1
        }
        return found
    }
}

extension PostgresConfiguration {
    /// Converts a URL or conninfo string to the environment variables that PostgreSQL's own programs read. Keywords without a variable (keepalives) are
    /// omitted.
    ///
    /// - Throws: `cannotConnect`. The error message of libpq may quote a password, so it is dropped.
    package static func environment(of connectionString: String) throws(PostgresError) -> [String: String] {
        guard let options = unsafe PQconninfoParse(connectionString, nil) else {
            throw PostgresError(.cannotConnect, reason: "malformed connection string")
        }
        defer { unsafe PQconninfoFree(options) }
        var found: [String: String] = [:]
        var option = unsafe options
        while unsafe option.pointee.keyword != nil {
            if let name = unsafe option.pointee.envvar, let value = unsafe option.pointee.val {
                found[unsafe String(cString: name)] = unsafe String(cString: value)
            }
            unsafe option += 1
        }
        if let mode = impliedTLSMode({ found[$0.environment] }) { found[TLSSetting.mode.environment] = mode }
        return found
    }
}

/// Receives libpq's notices and logs each with its severity and SQLSTATE at debug level.
final class NoticeSink {
    private let logger: Logger

    init(_ logger: Logger) { self.logger = logger }

    func receive(_ summary: @autoclosure () -> String) {
        logger.debug("PostgreSQL sent a notice", metadata: ["notice": .string(summary())])
    }
}

/// The notice callback of libpq. It is called inside libpq functions, on the thread of the session.
private func receiveNotice(_ context: UnsafeMutableRawPointer?, _ result: OpaquePointer?) {
    guard let context = unsafe context else { return }
    let sink = unsafe Unmanaged<NoticeSink>.fromOpaque(context).takeUnretainedValue()
    sink.receive(unsafe PGResult.summary(ofNotice: result))
}

/// Owns one `PGcancel`.
///
/// `@unchecked Sendable`: it must reach a thread other than the session's. The struct behind it is written once, by
/// `PQgetCancel`, and `PQcancel` only reads it ("safe to be called from a thread other than the one manipulating the
/// PGconn", libpq manual §34.7). Any thread may call `cancel`.
@safe final class CancelHandle: @unchecked Sendable {
    private let raw: OpaquePointer

    init(_ raw: OpaquePointer) { unsafe self.raw = unsafe raw }

    deinit { unsafe PQfreeCancel(raw) }

    /// Sends a cancel request for the running statement. It opens its own connection, so it blocks.
    func cancel() {
        var message = [CChar](repeating: 0, count: 256)
        _ = unsafe PQcancel(raw, &message, Int32(message.count))
    }
}
