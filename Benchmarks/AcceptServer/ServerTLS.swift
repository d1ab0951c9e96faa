import COpenSSL
import Glibc

/// The settings of all TLS connections of the server: certificate, version, cipher and ALPN.
@safe
final class ServerTLS {
    /// Freed in `deinit`; each SSL made from it holds its own reference.
    private let handle: OpaquePointer

    /// Reads certificate and key. It allows one version and one cipher, so that every client is measured with the same cryptography.
    ///
    /// - Throws: `failed` if a file cannot be read or the two do not belong together.
    init(certificateFile: String, keyFile: String) throws(ServerError) {
        guard let handle = unsafe SSL_CTX_new(TLS_server_method()) else { throw .failed("SSL_CTX_new") }
        unsafe self.handle = handle
        guard unsafe SSL_CTX_use_certificate_chain_file(handle, certificateFile) == 1,
            unsafe SSL_CTX_use_PrivateKey_file(handle, keyFile, SSL_FILETYPE_PEM) == 1,
            unsafe SSL_CTX_check_private_key(handle) == 1
        else { throw .failed("cannot read \(certificateFile) or \(keyFile)") }
        guard unsafe gateway_SSL_CTX_set_min_proto_version(handle, TLS1_3_VERSION) == 1,
            unsafe SSL_CTX_set_ciphersuites(handle, "TLS_AES_256_GCM_SHA384") == 1
        else { throw .failed("TLS settings") }
        let mode = SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
        _ = unsafe gateway_SSL_CTX_set_mode(handle, Int(mode))
        // Several records per read from the socket.
        unsafe gateway_SSL_CTX_set_read_ahead(handle, 1)
        unsafe SSL_CTX_set_default_read_buffer_len(handle, 131_072)
        unsafe SSL_CTX_set_alpn_select_cb(handle, chooseHTTP2, nil)
    }

    deinit { unsafe SSL_CTX_free(handle) }

    /// Creates a server SSL on a socket, owned by the caller.
    ///
    /// - Throws: `failed` without memory.
    func makeHandle(on descriptor: Int32) throws(ServerError) -> OpaquePointer {
        guard let tls = unsafe SSL_new(handle) else { throw .failed("SSL_new") }
        guard unsafe SSL_set_fd(tls, descriptor) == 1 else {
            unsafe SSL_free(tls)
            throw .failed("SSL_set_fd")
        }
        unsafe SSL_set_accept_state(tls)
        return unsafe tls
    }
}

/// Chooses `h2` if it is offered. A client that offers only other protocols is refused; one that offers none is served, as by APNs.
private func chooseHTTP2(
    _: OpaquePointer?,
    chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    chosenCount: UnsafeMutablePointer<UInt8>?,
    offered: UnsafePointer<UInt8>?,
    offeredCount: UInt32,
    _: UnsafeMutableRawPointer?
) -> Int32 {
    var name: UnsafeMutablePointer<UInt8>?
    let own: StaticString = "\u{2}h2"
    let result = unsafe SSL_select_next_proto(&name, chosenCount, own.utf8Start, 3, offered, offeredCount)
    guard result == OPENSSL_NPN_NEGOTIATED else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    unsafe chosen?.pointee = UnsafePointer(name)
    return SSL_TLSEXT_ERR_OK
}
