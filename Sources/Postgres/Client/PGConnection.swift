import CPQ
import Logging

/// One `PGconn`, and nothing but its calls in Swift's types. Used by one thread; only a `CancelHandle` may travel.
@safe final class PGConnection {
    private let raw: OpaquePointer

    /// Where notices go. libpq holds a plain pointer to it, so it lives as long as `raw`.
    private let notices: NoticeSink

    /// Begins to connect; `pollConnect` goes on. Host names are looked up here, blocking.
    ///
    /// - Throws: `cannotConnect` for a string that is not one, or without memory.
    init(parameters: [(keyword: String, value: String)], logger: Logger) throws(PostgresError) {
        let keywords = CStrings(parameters.map(\.keyword))
        let values = CStrings(parameters.map(\.value))
        let handle = unsafe keywords.withPointers { keywords in
            unsafe values.withPointers { values in unsafe PQconnectStartParams(keywords, values, 0) }
        }
        guard let handle = unsafe handle else { throw PostgresError(.cannotConnect, reason: "out of memory") }
        unsafe raw = unsafe handle
        notices = NoticeSink(logger)
        // Until the session is open, refusals come as "FATAL:  28P01": libpq 15 has no other way to tell their SQLSTATE.
        unsafe PQsetErrorVerbosity(raw, PQERRORS_SQLSTATE)
        unsafe PQsetNoticeReceiver(raw, receiveNotice, Unmanaged.passUnretained(notices).toOpaque())
    }

    deinit { unsafe PQfinish(raw) }

    /// What the socket must be able to do before the next step of connecting.
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

    /// -1 when there is none.
    var socket: Int32 { unsafe PQsocket(raw) }
    var isBad: Bool { unsafe PQstatus(raw) == CONNECTION_BAD }
    var isIdle: Bool { unsafe PQtransactionStatus(raw) == PQTRANS_IDLE }
    var isInPipeline: Bool { unsafe PQpipelineStatus(raw) != PQ_PIPELINE_OFF }
    var serverVersion: Int { Int(unsafe PQserverVersion(raw)) }
    var backendProcessID: Int32 { unsafe PQbackendPID(raw) }

    /// libpq's last words. May name hosts and roles, and quote values: not for everyone.
    var errorMessage: String {
        guard let text = unsafe PQerrorMessage(raw) else { return "" }
        return unsafe String(cString: text)
    }

    func enterPipeline() -> Bool { unsafe PQenterPipelineMode(raw) == 1 }
    func exitPipeline() -> Bool { unsafe PQexitPipelineMode(raw) == 1 }
    func pipelineSync() -> Bool { unsafe PQpipelineSync(raw) == 1 }

    /// Simple protocol: many statements, text results. Not in pipeline mode.
    func sendScript(_ sql: String) -> Bool { unsafe PQsendQuery(raw, sql) == 1 }

    /// One statement without parameters, unprepared.
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

    /// 0 when all is sent, 1 when the socket must drain first, -1 when it failed.
    func flush() -> Int32 { unsafe PQflush(raw) }
    func consumeInput() -> Bool { unsafe PQconsumeInput(raw) == 1 }
    var isBusy: Bool { unsafe PQisBusy(raw) == 1 }

    /// The next result; nil at the end of a command. Blocks unless `isBusy` is false.
    func nextResult() -> PGResult? {
        guard let result = unsafe PQgetResult(raw) else { return nil }
        return unsafe PGResult(result)
    }

    /// 1 when taken, 0 when the socket must drain first, -1 when it failed.
    func putCopyData(_ bytes: [UInt8]) -> Int32 {
        unsafe bytes.withUnsafeBytes { buffer in
            unsafe PQputCopyData(raw, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(buffer.count))
        }
    }

    /// Ends a COPY; with `reason` it fails. Results as `putCopyData`.
    func putCopyEnd(failing reason: String?) -> Int32 {
        guard let reason else { return unsafe PQputCopyEnd(raw, nil) }
        return unsafe PQputCopyEnd(raw, reason)
    }

    /// The next notification that `consumeInput` has read, copied out.
    func nextNotification() -> (channel: String, payload: String)? {
        guard let notification = unsafe PQnotifies(raw) else { return nil }
        defer { unsafe PQfreemem(notification) }
        let channel = unsafe String(cString: notification.pointee.relname)
        return (channel, unsafe String(cString: notification.pointee.extra))
    }

    /// What another thread needs to cancel a statement here.
    func makeCancelHandle() -> CancelHandle? {
        guard let handle = unsafe PQgetCancel(raw) else { return nil }
        return unsafe CancelHandle(handle)
    }
}

extension PGConnection {
    /// The keywords and values of a URL or conninfo string.
    ///
    /// - Throws: `cannotConnect`; libpq's complaint may quote a password, so it is dropped.
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
    /// A URL or conninfo string as variables of the environment, which PostgreSQL's own programs read. What libpq has no variable for (keepalives) is left out.
    ///
    /// - Throws: `cannotConnect`; libpq's complaint may quote a password, so it is dropped.
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
        return found
    }
}

/// Where libpq's notices end: a debug line with severity and SQLSTATE.
final class NoticeSink {
    private let logger: Logger

    init(_ logger: Logger) { self.logger = logger }

    func receive(_ summary: @autoclosure () -> String) {
        logger.debug("PostgreSQL sent a notice", metadata: ["notice": .string(summary())])
    }
}

/// libpq's notice callback. Called inside libpq's own calls, on the session's thread.
private func receiveNotice(_ context: UnsafeMutableRawPointer?, _ result: OpaquePointer?) {
    guard let context = unsafe context else { return }
    let sink = unsafe Unmanaged<NoticeSink>.fromOpaque(context).takeUnretainedValue()
    sink.receive(unsafe PGResult.summary(ofNotice: result))
}

/// One `PGcancel`.
///
/// `@unchecked Sendable`: it must reach a thread that is not the session's. The struct behind it is written once, by
/// `PQgetCancel`, and `PQcancel` only reads it ("safe to be called from a thread other than the one manipulating the
/// PGconn", libpq manual §34.7). Any thread may call `cancel`.
@safe final class CancelHandle: @unchecked Sendable {
    private let raw: OpaquePointer

    init(_ raw: OpaquePointer) { unsafe self.raw = unsafe raw }

    deinit { unsafe PQfreeCancel(raw) }

    /// Asks the server to cancel what runs. Opens a connection of its own, so it blocks.
    func cancel() {
        var message = [CChar](repeating: 0, count: 256)
        _ = unsafe PQcancel(raw, &message, Int32(message.count))
    }
}
