internal import COpenSSL

/// One client's TLS session, with encrypted bytes on one side and plain bytes on the other, without a socket.
///
/// Its `Connection` creates and ends it, on that connection's loop only. Pass the socket's bytes to `received`, call `handshake` until it is done, then `read`
/// until it returns `wantsMore`; after each step, `output` contains the bytes for the socket.
@safe
final class TLSEngine {
    /// The result of one `read`.
    enum Read: Equatable {
        /// This many bytes were put in the buffer.
        case bytes(Int)
        /// All received bytes are used up. OpenSSL reads ahead, so wait for the socket only after this result.
        case wantsMore
        /// The peer ended the session in an orderly way.
        case ended
    }

    /// Freed in `deinit`, with both BIOs.
    private let handle: OpaquePointer
    /// The bytes from the socket. Owned by `handle`.
    private let input: OpaquePointer
    /// The bytes for the socket.
    let output = TLSOutput()
    private let context: TLSContext
    private let peer: TLSSessionCache.Key
    private var hasOfferedSession = false
    /// Whether the peer has sent anything inside TLS, which shows that its side of the handshake was done, too.
    private var hasRead = false
    /// How the handshake was done; nil before its end.
    private(set) var outcome: TLSHandshake?

    /// Sets up a session with a host. It resumes an earlier session if there is one.
    ///
    /// - Parameters:
    ///   - context: trust, identity, versions and sessions.
    ///   - peer: the name that the certificate must match, and the address. A DNS name is sent as SNI, an IP address is not (RFC 6066 §3).
    /// - Throws: `outOfMemory`, `tlsFailed`.
    init(context: TLSContext, peer: TLSSessionCache.Key) throws(HTTP2Error) {
        clearOpenSSLErrors()
        guard let handle = unsafe context.makeHandle() else { throw HTTP2Error(.outOfMemory, isUnsent: true) }
        guard let input = unsafe BIO_new(BIO_s_mem()) else {
            unsafe SSL_free(handle)
            throw HTTP2Error(.outOfMemory, isUnsent: true)
        }
        guard let records = unsafe output.makeBIO() else {
            unsafe BIO_free_all(input)
            unsafe SSL_free(handle)
            throw HTTP2Error(.outOfMemory, isUnsent: true)
        }
        // From here on the SSL owns both.
        unsafe SSL_set_bio(handle, input, records)
        unsafe SSL_set_connect_state(handle)
        unsafe self.handle = handle
        unsafe self.input = input
        self.context = context
        self.peer = peer
        guard setName(peer.serverName) else {
            throw HTTP2Error(.tlsFailed, isUnsent: true, underlying: drainOpenSSLErrors() ?? "bad server name")
        }
        // `keepSession` needs this; OpenSSL calls it only inside calls on this handle.
        _ = unsafe SSL_set_ex_data(handle, 0, Unmanaged.passUnretained(self).toOpaque())
        offerSession()
    }

    deinit { unsafe SSL_free(handle) }

    /// Passes the bytes that the socket received.
    ///
    /// - Throws: `outOfMemory`.
    func received(_ bytes: UnsafeBufferPointer<UInt8>) throws(HTTP2Error) {
        let count = unsafe BIO_write(input, bytes.baseAddress, Int32(clamping: bytes.count))
        guard Int(count) == bytes.count else { throw HTTP2Error(.outOfMemory) }
    }

    /// Advances the handshake as far as possible; returns true once it is done.
    ///
    /// - Throws: `certificateRejected`, `identityRejected`, `noALPN`, `tlsFailed`.
    func handshake() throws(HTTP2Error) -> Bool {
        clearOpenSSLErrors()
        let result = unsafe SSL_do_handshake(handle)
        guard result != 1 else {
            handshakeEnded()
            if context.requiresALPN, !hasChosenHTTP2 { throw HTTP2Error(.noALPN, isUnsent: true) }
            return true
        }
        if unsafe SSL_get_error(handle, result) == SSL_ERROR_WANT_READ { return false }
        if hasOfferedSession { context.sessions.removeAll(peer) }
        let verdict = unsafe SSL_get_verify_result(handle)
        guard verdict == X509_V_OK else {
            let words = unsafe String(cString: X509_verify_cert_error_string(verdict))
            clearOpenSSLErrors()
            throw HTTP2Error(.certificateRejected, isUnsent: true, underlying: words)
        }
        throw failure(isUnsent: true)
    }

    /// Decrypts into the buffer.
    ///
    /// - Throws: `tlsFailed`; `identityRejected`, because in TLS 1.3 a peer verifies our certificate after our side is done.
    func read(into buffer: UnsafeMutableBufferPointer<UInt8>) throws(HTTP2Error) -> Read {
        clearOpenSSLErrors()
        let count = unsafe SSL_read(handle, buffer.baseAddress, Int32(clamping: buffer.count))
        if count > 0 {
            hasRead = true
            return .bytes(Int(count))
        }
        switch unsafe SSL_get_error(handle, count) {
        case SSL_ERROR_WANT_READ: return .wantsMore
        case SSL_ERROR_ZERO_RETURN: return .ended
        default: throw failure(isUnsent: false)
        }
    }

    /// Encrypts all bytes into `output`.
    ///
    /// - Throws: `tlsFailed`, also if memory is exhausted.
    func write(_ bytes: UnsafeBufferPointer<UInt8>) throws(HTTP2Error) {
        guard !bytes.isEmpty else { return }
        clearOpenSSLErrors()
        // The output accepts everything, so a short write cannot happen without an error.
        let count = unsafe SSL_write(handle, bytes.baseAddress, Int32(clamping: bytes.count))
        guard Int(count) == bytes.count else { throw HTTP2Error(.tlsFailed, underlying: drainOpenSSLErrors()) }
    }

    /// Writes close_notify to `output`.
    func shutdown() {
        clearOpenSSLErrors()
        _ = unsafe SSL_shutdown(handle)
        clearOpenSSLErrors()
    }

    // MARK: Sessions

    /// Called when OpenSSL has a resumable session. In TLS 1.3 that is some time after the handshake, and several times.
    func keep(_ session: OpaquePointer) {
        let count = unsafe i2d_SSL_SESSION(session, nil)
        guard count > 0, count <= TLSSessionCache.maxSessionBytes else { return }
        var bytes = [UInt8](repeating: 0, count: Int(count))
        let written = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            var start = buffer.baseAddress
            return unsafe i2d_SSL_SESSION(session, &start)
        }
        if written == count { context.sessions.store(bytes, for: peer) }
    }

    private func offerSession() {
        guard let bytes = context.sessions.take(peer) else { return }
        let session = unsafe bytes.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            return unsafe d2i_SSL_SESSION(nil, &start, buffer.count)
        }
        guard let session = unsafe session else { return clearOpenSSLErrors() }
        // The SSL takes its own reference. If it refuses the session, the only cost is a full handshake.
        hasOfferedSession = unsafe SSL_set_session(handle, session) == 1
        unsafe SSL_SESSION_free(session)
        clearOpenSSLErrors()
    }

    private func handshakeEnded() {
        guard outcome == nil else { return }
        let isResumed = unsafe SSL_session_reused(handle) == 1
        outcome = isResumed ? .resumed : .full
        // TLS 1.2 issues no new session when it resumes one, so the old one is kept for the next connection.
        if isResumed, unsafe SSL_version(handle) < TLS1_3_VERSION, let session = unsafe SSL_get_session(handle) {
            unsafe keep(session)
        }
    }

    // MARK: Private

    /// The alerts by which a peer reports that our certificate is missing or not acceptable: bad, unsupported, revoked, expired, unknown, unknown authority,
    /// access denied, and required (RFC 8446 §6.2).
    private static let identityAlerts: Set<Int32> = [42, 43, 44, 45, 46, 48, 49, 116]

    private func failure(isUnsent: Bool) -> HTTP2Error {
        let failure = OpenSSLFailure.take()
        if !hasRead, let alert = failure.alert, Self.identityAlerts.contains(alert) {
            return HTTP2Error(.identityRejected, isUnsent: true, underlying: failure.words)
        }
        return HTTP2Error(.tlsFailed, isUnsent: isUnsent, underlying: failure.words)
    }

    private var hasChosenHTTP2: Bool {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        unsafe SSL_get0_alpn_selected(handle, &name, &count)
        return unsafe Array(UnsafeBufferPointer(start: name, count: Int(count))) == Array("h2".utf8)
    }

    private func setName(_ name: String) -> Bool {
        let parameters = unsafe SSL_get0_param(handle)
        // An IP address is verified as such and never sent as SNI.
        if unsafe X509_VERIFY_PARAM_set1_ip_asc(parameters, name) == 1 { return true }
        clearOpenSSLErrors()
        unsafe SSL_set_hostflags(handle, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
        return unsafe SSL_set1_host(handle, name) == 1 && gateway_SSL_set_tlsext_host_name(handle, name) == 1
    }
}

/// OpenSSL's callback for a resumable session. It returns 0: OpenSSL keeps the reference.
func keepSession(_ handle: OpaquePointer?, _ session: OpaquePointer?) -> Int32 {
    guard let session = unsafe session, let data = unsafe SSL_get_ex_data(handle, 0) else { return 0 }
    unsafe Unmanaged<TLSEngine>.fromOpaque(data)._withUnsafeGuaranteedRef { unsafe $0.keep(session) }
    return 0
}
