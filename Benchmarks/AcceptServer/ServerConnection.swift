import COpenSSL
import Glibc

/// One client: its socket, its TLS session, and its input and output. The frames are in `ServerConnection+Frames.swift`.
@safe
final class ServerConnection {
    /// At most 256 KiB of answers wait for the socket, about 5,000 of them. Above that nothing is read, so that a client that does not read causes no further
    /// cost.
    private static let outputBytes = 262_144
    /// 48 KiB: three frames of the largest size, so that a whole frame always fits after the rest of another.
    private static let inputBytes = 49_152
    /// 64 reads per turn; then the other connections have their turn.
    private static let readsPerTurn = 64
    /// 16 KiB are joined into one TLS record.
    private static let recordBytes = 16_384

    let descriptor: Int32
    let settings: ServerOptions
    var counts = ServerCounts()
    /// Freed in `deinit`.
    private let tls: OpaquePointer
    let fields: FieldReader
    var input = PlainBuffer(capacity: ServerConnection.inputBytes)
    var output = PlainBuffer(capacity: ServerConnection.outputBytes)
    var streams: StreamTable
    /// Answers that are delayed.
    var due = DueQueue()
    /// The time of this turn, in nanoseconds.
    private(set) var now: UInt64 = 0
    /// The state of the frame reader.
    var progress = FrameProgress()
    /// Whether epoll reports when the socket has room again.
    private(set) var waitsForRoom = false
    /// Whether the last turn ended before all input was read. OpenSSL has read ahead, so epoll does not report the rest.
    private(set) var hasUnread = false

    /// Takes ownership of a connected, non-blocking socket; `deinit` closes it.
    ///
    /// - Throws: `failed` without memory.
    init(descriptor: Int32, tls: ServerTLS, settings: ServerOptions) throws(ServerError) {
        self.descriptor = descriptor
        self.settings = settings
        fields = try FieldReader()
        streams = StreamTable(limit: Int(settings.streamLimit))
        unsafe self.tls = try tls.makeHandle(on: descriptor)
        writePreface()
    }

    deinit {
        unsafe SSL_free(tls)
        close(descriptor)
    }

    /// Reads the available input, answers the due requests and writes as much as fits.
    ///
    /// - Throws: `connection`: the caller must close it.
    func serve(at now: UInt64) throws(ServerError) {
        self.now = now
        try answerDue()
        hasUnread = true
        for _ in 0..<ServerConnection.readsPerTurn {
            guard output.room > ServerConnection.recordBytes * 4 else { break }
            guard try read() else {
                hasUnread = false
                break
            }
            try readFrames()
            if output.count >= ServerConnection.recordBytes { try write() }
        }
        try write()
    }

    /// Answers the requests that are due at `now`.
    ///
    /// - Throws: `connection`: the caller must close it.
    func serveDue(at now: UInt64) throws(ServerError) {
        self.now = now
        try answerDue()
        try write()
    }

    private func answerDue() throws(ServerError) {
        while let stream = due.pop(at: now) {
            answer(stream)
            if output.room <= ServerConnection.recordBytes { try write() }
        }
    }

    /// Reads input; returns true if there may be more.
    private func read() throws(ServerError) -> Bool {
        input.compact()
        ERR_clear_error()
        let count = unsafe SSL_read(tls, input.back, Int32(clamping: input.room))
        if count > 0 {
            input.added(Int(count))
            return true
        }
        switch unsafe SSL_get_error(tls, count) {
        case SSL_ERROR_WANT_READ: return false
        case SSL_ERROR_WANT_WRITE:
            waitsForRoom = true
            return false
        case SSL_ERROR_ZERO_RETURN: throw .connection("")
        default: throw .connection(errno == 0 || errno == ECONNRESET ? "" : "TLS")
        }
    }

    private func write() throws(ServerError) {
        waitsForRoom = false
        guard unsafe SSL_is_init_finished(tls) == 1 else { return }
        while output.count > 0 {
            ERR_clear_error()
            let length = Int32(min(output.count, ServerConnection.recordBytes))
            let count = unsafe SSL_write(tls, output.front, length)
            if count > 0 {
                output.consume(Int(count))
                continue
            }
            guard unsafe SSL_get_error(tls, count) == SSL_ERROR_WANT_WRITE else { throw .connection("") }
            waitsForRoom = true
            output.compact()
            return
        }
    }
}
