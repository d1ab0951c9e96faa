internal import COpenSSL

/// One client's TLS session: encrypted bytes in and out on one side, plain bytes on the other, no socket.
///
/// Made and ended by its `Connection`, on that connection's loop only. Feed what the socket gave by `received`, call `handshake`
/// until it is done, then `read` until it says there is nothing; after each step, `takeOutput` has what goes to the socket.
@safe
final class TLSEngine {
    /// What one `read` gave.
    enum Read: Equatable {
        /// So many bytes were put in the buffer.
        case bytes(Int)
        /// All that was fed is used up. OpenSSL reads ahead, so only this means that the socket may be waited for.
        case wantsMore
        /// The peer ended the session in good order.
        case ended
    }

    /// Freed in `deinit`, with both BIOs.
    private let handle: OpaquePointer
    /// Owned by `handle`: what came from the socket, and what goes to it.
    private let input: OpaquePointer
    private let output: OpaquePointer
    private let context: TLSContext

    /// Sets up a session with a host.
    ///
    /// - Parameters:
    ///   - context: trust, identity and versions.
    ///   - serverName: what the peer's certificate must be for; a DNS name is sent as SNI, an IP address is not (RFC 6066 §3).
    /// - Throws: `outOfMemory`, `tlsFailed`.
    init(context: TLSContext, serverName: String) throws(HTTP2Error) {
        clearOpenSSLErrors()
        guard let handle = unsafe context.makeHandle() else { throw HTTP2Error(.outOfMemory, isUnsent: true) }
        guard let input = unsafe BIO_new(BIO_s_mem()), let output = unsafe BIO_new(BIO_s_mem()) else {
            unsafe SSL_free(handle)
            throw HTTP2Error(.outOfMemory, isUnsent: true)
        }
        // From here on the SSL owns both.
        unsafe SSL_set_bio(handle, input, output)
        unsafe SSL_set_connect_state(handle)
        unsafe self.handle = handle
        unsafe self.input = input
        unsafe self.output = output
        self.context = context
        guard setName(serverName) else {
            throw HTTP2Error(.tlsFailed, isUnsent: true, underlying: drainOpenSSLErrors() ?? "bad server name")
        }
    }

    deinit { unsafe SSL_free(handle) }

    /// Gives it what the socket received.
    ///
    /// - Throws: `outOfMemory`.
    func received(_ bytes: UnsafeBufferPointer<UInt8>) throws(HTTP2Error) {
        let count = unsafe BIO_write(input, bytes.baseAddress, Int32(clamping: bytes.count))
        guard Int(count) == bytes.count else { throw HTTP2Error(.outOfMemory) }
    }

    /// Takes the handshake as far as it goes; true once it is done.
    ///
    /// - Throws: `certificateRejected`, `noALPN`, `tlsFailed`.
    func handshake() throws(HTTP2Error) -> Bool {
        clearOpenSSLErrors()
        let result = unsafe SSL_do_handshake(handle)
        guard result != 1 else {
            if context.requiresALPN, !hasChosenHTTP2 { throw HTTP2Error(.noALPN, isUnsent: true) }
            return true
        }
        if unsafe SSL_get_error(handle, result) == SSL_ERROR_WANT_READ { return false }
        let verdict = unsafe SSL_get_verify_result(handle)
        guard verdict == X509_V_OK else {
            let words = unsafe String(cString: X509_verify_cert_error_string(verdict))
            clearOpenSSLErrors()
            throw HTTP2Error(.certificateRejected, isUnsent: true, underlying: words)
        }
        throw HTTP2Error(.tlsFailed, isUnsent: true, underlying: drainOpenSSLErrors())
    }

    /// Decrypts into the buffer.
    ///
    /// - Throws: `tlsFailed`.
    func read(into buffer: UnsafeMutableBufferPointer<UInt8>) throws(HTTP2Error) -> Read {
        clearOpenSSLErrors()
        let count = unsafe SSL_read(handle, buffer.baseAddress, Int32(clamping: buffer.count))
        if count > 0 { return .bytes(Int(count)) }
        switch unsafe SSL_get_error(handle, count) {
        case SSL_ERROR_WANT_READ: return .wantsMore
        case SSL_ERROR_ZERO_RETURN: return .ended
        default: throw HTTP2Error(.tlsFailed, underlying: drainOpenSSLErrors())
        }
    }

    /// Encrypts all of it; the result is taken by `takeOutput`.
    ///
    /// - Throws: `tlsFailed`.
    func write(_ bytes: UnsafeBufferPointer<UInt8>) throws(HTTP2Error) {
        guard !bytes.isEmpty else { return }
        clearOpenSSLErrors()
        // A memory BIO takes everything, so a short write cannot happen without an error.
        let count = unsafe SSL_write(handle, bytes.baseAddress, Int32(clamping: bytes.count))
        guard Int(count) == bytes.count else { throw HTTP2Error(.tlsFailed, underlying: drainOpenSSLErrors()) }
    }

    /// Says goodbye (close_notify); the alert is taken by `takeOutput`.
    func shutdown() {
        clearOpenSSLErrors()
        _ = unsafe SSL_shutdown(handle)
        clearOpenSSLErrors()
    }

    /// Moves what is to be sent to the end of the buffer; false without memory.
    func takeOutput(into buffer: inout RawBytes) -> Bool {
        let pending = unsafe BIO_ctrl_pending(output)
        guard pending > 0 else { return true }
        guard let spare = unsafe buffer.reserve(pending) else { return false }
        let count = unsafe BIO_read(output, spare, Int32(clamping: pending))
        buffer.added(max(0, Int(count)))
        return true
    }

    // MARK: Private

    private var hasChosenHTTP2: Bool {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        unsafe SSL_get0_alpn_selected(handle, &name, &count)
        return unsafe Array(UnsafeBufferPointer(start: name, count: Int(count))) == Array("h2".utf8)
    }

    private func setName(_ name: String) -> Bool {
        let parameters = unsafe SSL_get0_param(handle)
        // An IP address is verified as one, and never sent as SNI.
        if unsafe X509_VERIFY_PARAM_set1_ip_asc(parameters, name) == 1 { return true }
        clearOpenSSLErrors()
        unsafe SSL_set_hostflags(handle, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
        return unsafe SSL_set1_host(handle, name) == 1 && gateway_SSL_set_tlsext_host_name(handle, name) == 1
    }
}
