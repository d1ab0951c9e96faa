import COpenSSL
import Glibc

/// One connection of a `TLSPeer`: a blocking socket, OpenSSL between two memory BIOs, and an nghttp2 server session.
///
/// Only the thread of its script uses it. Its socket is closed with it.
@safe
final class PeerConnection {
    /// The HTTP/2 side: requests in, frames out.
    let http: PeerServer
    private let socket: Int32
    private let handle: OpaquePointer
    private let input: OpaquePointer
    private let output: OpaquePointer
    private let isOver: () -> Bool
    /// True if the client has closed the connection, or its TLS failed.
    private(set) var isGone = false
    /// True if `poll` passes the bytes that it reads to `http`, and writes the output of `http`.
    var speaksHTTP = true
    /// All bytes that arrived inside TLS.
    private(set) var received: [UInt8] = []

    init?(_ socket: Int32, _ context: ServerContext, _ isOver: @escaping () -> Bool) {
        guard let http = PeerServer(maxStreams: 100), let handle = unsafe SSL_new(context.handle),
            let input = unsafe BIO_new(BIO_s_mem()), let output = unsafe BIO_new(BIO_s_mem())
        else { return nil }
        self.http = http
        self.socket = socket
        self.isOver = isOver
        unsafe SSL_set_bio(handle, input, output)
        unsafe SSL_set_accept_state(handle)
        unsafe self.handle = handle
        unsafe self.input = input
        unsafe self.output = output
        var timeout = timeval(tv_sec: 0, tv_usec: 5_000)
        _ = unsafe setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var one: Int32 = 1
        _ = unsafe setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit {
        unsafe SSL_free(handle)
        close(socket)
    }

    // MARK: Steps of a script

    /// Performs the handshake; false if it failed. The server's messages are written in pieces of `chunk` bytes, with
    /// `pause` between them.
    func shakeHands(chunk: Int = .max, pause: Duration = .zero) -> Bool {
        while true {
            let result = unsafe SSL_do_handshake(handle)
            drip(takeOutput(), chunk, pause)
            if result == 1 { return true }
            guard unsafe SSL_get_error(handle, result) == SSL_ERROR_WANT_READ, read() else { return false }
        }
    }

    /// Serves HTTP/2 until the condition holds for it; false if the client closed, or half a minute passed.
    @discardableResult
    func poll(until isTrue: (PeerConnection) -> Bool) -> Bool {
        let end = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < end {
            flush()
            if isTrue(self) { return true }
            guard read() else { return false }
        }
        return false
    }

    /// Serves until this number of complete requests has arrived, and returns their streams in order; nil if the
    /// client closes before that.
    func requests(_ count: Int) -> [Int32]? {
        let isThere = poll { $0.http.requests.values.count { $0.isComplete } >= count }
        return isThere ? http.streams : nil
    }

    /// Serves and answers each request with 200, until the client closes or the test ends.
    func serve() {
        var answered: Set<Int32> = []
        poll { peer in
            for (stream, request) in peer.http.requests where request.isComplete && !answered.contains(stream) {
                answered.insert(stream)
                peer.http.respond(stream, status: 200)
            }
            peer.flush()
            return false
        }
    }

    /// Does nothing and reads nothing until the test ends, half a minute at most.
    func freeze() {
        let end = ContinuousClock.now + .seconds(30)
        while !isOver(), ContinuousClock.now < end { usleep(2_000) }
    }

    /// Reads and discards bytes and answers nothing, until the client closes or the test ends.
    func ignore() {
        speaksHTTP = false
        poll { _ in false }
    }

    /// Writes the output of `http`.
    func flush() {
        guard speaksHTTP else { return }
        write(http.output())
    }

    /// Writes bytes inside TLS.
    func write(_ bytes: [UInt8]) { drip(encrypted(bytes)) }

    /// The TLS records of these bytes, for a script that writes them in parts.
    func encrypted(_ bytes: [UInt8]) -> [UInt8] {
        guard !bytes.isEmpty else { return [] }
        _ = unsafe SSL_write(handle, bytes, Int32(bytes.count))
        return takeOutput()
    }

    /// Writes bytes unchanged, in pieces of `chunk`, with `pause` between them.
    func drip(_ bytes: [UInt8], _ chunk: Int = .max, _ pause: Duration = .zero) {
        var rest = bytes[...]
        while let first = rest.first.map({ _ in rest.prefix(chunk) }), !isGone {
            var left = first
            while !left.isEmpty {
                let count = unsafe left.withUnsafeBufferPointer {
                    unsafe send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                if count <= 0 {
                    isGone = true
                    return
                }
                left = left.dropFirst(count)
            }
            rest = rest.dropFirst(chunk)
            if pause > .zero, !rest.isEmpty { usleep(UInt32(pause / .microseconds(1))) }
        }
    }

    /// Sends the fatal alert `bad_record_mac`, by passing a record to OpenSSL that the client never wrote.
    func sendAlert() {
        let record: [UInt8] = [23, 3, 3, 0, 32] + [UInt8](repeating: 0xA5, count: 32)
        _ = unsafe BIO_write(input, record, Int32(record.count))
        var byte: UInt8 = 0
        _ = unsafe SSL_read(handle, &byte, 1)
        drip(takeOutput())
    }

    /// Makes closing the socket send a TCP reset.
    func resetOnClose() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    }

    /// Makes the kernel's receive buffer small, so the peer reads slowly from the client's view.
    func shrinkReceiveBuffer() {
        var size: Int32 = 4_096
        _ = unsafe setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }

    /// The UID in the subject of the client's certificate.
    var clientUserID: String? {
        guard let certificate = unsafe SSL_get1_peer_certificate(handle) else { return nil }
        defer { unsafe X509_free(certificate) }
        var text = [CChar](repeating: 0, count: 256)
        let count = unsafe X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_userId, &text, 256)
        return count > 0 ? String(decoding: text.prefix(Int(count)).map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }

    /// Whether the client resumed a session.
    var isResumed: Bool { unsafe SSL_session_reused(handle) == 1 }

    // MARK: Private

    /// Reads the available bytes for a few milliseconds; false after the client closed or the test ended.
    private func read() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe recv(socket, &buffer, buffer.count, 0)
        if count > 0 {
            _ = unsafe BIO_write(input, buffer, Int32(count))
            decrypt()
        } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
            isGone = true
        }
        return !isGone && !isOver()
    }

    private func decrypt() {
        guard unsafe SSL_is_init_finished(handle) == 1 else { return }
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = unsafe SSL_read(handle, &buffer, Int32(buffer.count))
            guard count > 0 else {
                if unsafe SSL_get_error(handle, count) != SSL_ERROR_WANT_READ { isGone = true }
                break
            }
            let bytes = Array(buffer.prefix(Int(count)))
            received += bytes
            if speaksHTTP { http.receive(bytes) }
        }
        ERR_clear_error()
    }

    private func takeOutput() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(unsafe BIO_ctrl_pending(output)))
        guard !bytes.isEmpty else { return [] }
        _ = unsafe BIO_read(output, &bytes, Int32(bytes.count))
        return bytes
    }
}
