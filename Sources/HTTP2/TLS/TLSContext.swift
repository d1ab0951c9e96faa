internal import COpenSSL
internal import Glibc

/// The certificates that a client trusts.
package enum TrustRoots: Sendable, Equatable {
    /// The system's certificate store.
    case system
    /// Only these certificates, in PEM.
    case pem([UInt8])
    /// Only the certificates of this PEM file.
    case file(String)
}

/// The settings that TLS connections share: trust roots, identity, versions, ALPN and resumable sessions. It requires at least TLS 1.2 and always verifies the
/// peer.
///
/// There is one per (trust roots, identity); the code that configures a pool creates it and keeps it as long as the pool. Sessions are resumed only within one
/// context, and there only for the same (host, port, name), so that no identity ever uses another's session. Any thread may hold it.
// @unchecked: holds a C handle. Protected by: nothing is changed after init, and OpenSSL counts references to an SSL_CTX atomically. Callers: any loop, only by
// `makeHandle`.
@safe
package final class TLSContext: @unchecked Sendable {
    /// Freed in `deinit`; each SSL made from it holds its own reference.
    private let handle: OpaquePointer
    /// Whether a peer that does not choose `h2` is refused.
    let requiresALPN: Bool
    /// The sessions that connections may resume.
    let sessions = TLSSessionCache()

    /// Loads roots and identity.
    ///
    /// - Parameters:
    ///   - trustRoots: the certificates to trust.
    ///   - identity: the identity to present if the peer requests one; nil for none.
    ///   - requiresALPN: false continues with a peer that ignores ALPN.
    /// - Throws: `badCertificate` if there are no roots, or if this OpenSSL finds the identity too weak; `outOfMemory`, `tlsFailed`.
    package init(
        trustRoots: TrustRoots,
        identity: TLSIdentity? = nil,
        requiresALPN: Bool = true
    ) throws(HTTP2Error) {
        clearOpenSSLErrors()
        guard let handle = unsafe SSL_CTX_new(TLS_client_method()) else {
            throw HTTP2Error(.outOfMemory, underlying: drainOpenSSLErrors())
        }
        unsafe self.handle = handle
        self.requiresALPN = requiresALPN
        try unsafe configure(handle)
        try load(trustRoots)
        if let identity { try unsafe identity.material.install(in: handle) }
    }

    deinit { unsafe SSL_CTX_free(handle) }

    /// A new client SSL, owned by the caller; nil without memory.
    func makeHandle() -> OpaquePointer? { unsafe SSL_new(handle) }

    // MARK: Private

    private func load(_ roots: TrustRoots) throws(HTTP2Error) {
        let isLoaded =
            switch roots {
            case .system: unsafe SSL_CTX_set_default_verify_paths(handle) == 1
            case .file(let path): unsafe SSL_CTX_load_verify_file(handle, path) == 1
            case .pem(let bytes): load(roots: bytes)
            }
        guard isLoaded else { throw HTTP2Error(.badCertificate, underlying: drainOpenSSLErrors() ?? "no trust roots") }
    }

    private func load(roots bytes: [UInt8]) -> Bool {
        var count = 0
        let store = unsafe SSL_CTX_get_cert_store(handle)
        unsafe forEachCertificate(in: bytes) { certificate in
            // The store takes its own reference.
            if unsafe X509_STORE_add_cert(store, certificate) == 1 { count += 1 }
        }
        return count > 0
    }
}

/// Sets versions, verification, ALPN and buffer handling.
///
/// - Throws: `tlsFailed` if this OpenSSL refuses one of them.
private func configure(_ context: OpaquePointer) throws(HTTP2Error) {
    unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
    // Buffers are freed while a connection is idle, and a write may be retried from another address.
    let mode = SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
    _ = unsafe gateway_SSL_CTX_set_mode(context, Int(mode))
    unsafe gateway_SSL_CTX_set_read_ahead(context, 1)
    // Sessions go to our own cache, as bytes; OpenSSL's cache would share its objects between threads.
    _ = unsafe gateway_SSL_CTX_set_session_cache_mode(
        context,
        Int(SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL)
    )
    unsafe SSL_CTX_sess_set_new_cb(context, keepSession)
    // RFC 9113 §9.2.1: no renegotiation, no compression.
    _ = unsafe SSL_CTX_set_options(context, gateway_http2_options())
    // SSL_CTX_set_alpn_protos returns 0 on success, unlike similar functions.
    let alpn: [UInt8] = [2, UInt8(ascii: "h"), UInt8(ascii: "2")]
    guard unsafe gateway_SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1,
        unsafe SSL_CTX_set_alpn_protos(context, alpn, UInt32(alpn.count)) == 0
    else { throw HTTP2Error(.tlsFailed, underlying: drainOpenSSLErrors()) }
}

/// Calls the closure with each certificate of a PEM text. The certificate is freed after the call.
func forEachCertificate(in pem: [UInt8], _ body: (OpaquePointer) -> Void) {
    clearOpenSSLErrors()
    guard let bio = unsafe BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else { return }
    defer { unsafe BIO_free_all(bio) }
    while let certificate = unsafe PEM_read_bio_X509(bio, nil, refusePassword, nil) {
        unsafe body(certificate)
        unsafe X509_free(certificate)
    }
    // The end of the text leaves an error in the queue.
    clearOpenSSLErrors()
}

/// Reads an unencrypted private key in PEM, PKCS#8 or SEC 1; the caller frees it.
func readPrivateKey(_ pem: [UInt8]) -> OpaquePointer? {
    clearOpenSSLErrors()
    guard let bio = unsafe BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else { return nil }
    defer { unsafe BIO_free_all(bio) }
    return unsafe PEM_read_bio_PrivateKey(bio, nil, refusePassword, nil)
}

/// Answers a request for a password with none; OpenSSL would otherwise ask on the terminal.
private func refusePassword(
    _: UnsafeMutablePointer<CChar>?,
    _: Int32,
    _: Int32,
    _: UnsafeMutableRawPointer?
) -> Int32 { -1 }
