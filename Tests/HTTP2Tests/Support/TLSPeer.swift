import COpenSSL
import Glibc
import NIOConcurrencyHelpers

/// A TLS server on loopback that a test controls down to single bytes; its HTTP/2 is a `PeerServer`.
///
/// Each connection has its own thread, which runs the script and ends with it.
final class TLSPeer: Sendable {
    /// The options of the handshake.
    struct Options: Sendable {
        var isTLS12 = false
        /// If set, the server requires a client certificate of this authority.
        var clientAuthorityFile: String?
        var selectsALPN = true
    }

    struct Failed: Error {}

    private let listener: Int32
    private let context: ServerContext
    private let state = NIOLockedValueBox((isEnded: false, accepted: 0))
    let port: Int

    /// Starts it; `script` is called for each connection, before its handshake.
    init(
        _ certificates: Certificates,
        options: Options = Options(),
        script: @escaping @Sendable (PeerConnection) -> Void
    ) throws {
        context = try ServerContext(certificates, options)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        listener = descriptor
        let (result, port) = unsafe withLoopback(0) { name, size in
            let isBound = unsafe bind(descriptor, name, size) == 0 && listen(descriptor, 64) == 0
            return unsafe isBound ? getsockname(descriptor, name, &size) : -1
        }
        guard result == 0 else { throw Failed() }
        self.port = port
        let (context, state) = (self.context, self.state)
        startThread {
            while true {
                let client = accept(descriptor, nil, nil)
                // The socket must not be inherited: a child of another test would keep the connection open.
                _ = fcntl(client, F_SETFD, FD_CLOEXEC)
                if client < 0 || state.withLockedValue({ $0.isEnded }) {
                    if client >= 0 { close(client) }
                    break
                }
                state.withLockedValue { $0.accepted += 1 }
                startThread {
                    guard let connection = PeerConnection(client, context, { state.withLockedValue { $0.isEnded } })
                    else { return }
                    script(connection)
                }
            }
            close(descriptor)
        }
    }

    deinit { end() }

    /// The number of accepted connections.
    var acceptedCount: Int { state.withLockedValue { $0.accepted } }

    /// Stops accepting connections. Waiting scripts continue and end.
    func end() {
        let isFirst = state.withLockedValue { state in
            defer { state.isEnded = true }
            return !state.isEnded
        }
        // Only once: after the thread has closed it, another file may have the descriptor.
        if isFirst { shutdown(listener, Int32(SHUT_RDWR)) }
    }
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

private func startThread(_ body: @escaping @Sendable () -> Void) {
    let box = unsafe Unmanaged.passRetained(ThreadBody(body))
    var id = pthread_t()
    let result = unsafe pthread_create(
        &id,
        nil,
        { box in
            guard let box = unsafe box else { return nil }
            unsafe Unmanaged<ThreadBody>.fromOpaque(box).takeRetainedValue().run()
            return nil
        },
        box.toOpaque()
    )
    if result == 0 { pthread_detach(id) } else { unsafe box.release() }
}

/// The server side of OpenSSL's settings.
@safe
final class ServerContext: @unchecked Sendable {
    // @unchecked: holds a C handle. Protected by: it is not changed after init. Callers: any thread, by SSL_new
    // alone.
    let handle: OpaquePointer

    init(_ certificates: Certificates, _ options: TLSPeer.Options) throws {
        guard let handle = unsafe SSL_CTX_new(TLS_server_method()) else { throw TLSPeer.Failed() }
        unsafe self.handle = handle
        var isGood = unsafe SSL_CTX_use_certificate_chain_file(handle, certificates.certificateFile) == 1
        isGood =
            unsafe isGood && SSL_CTX_use_PrivateKey_file(handle, certificates.keyFile, SSL_FILETYPE_PEM) == 1
        if options.isTLS12 {
            _ = unsafe SSL_CTX_ctrl(handle, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        }
        if let authority = options.clientAuthorityFile {
            isGood = unsafe isGood && SSL_CTX_load_verify_file(handle, authority) == 1
            unsafe SSL_CTX_set_verify(handle, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
            // A server that requires certificates resumes no session without a session id context.
            _ = unsafe SSL_CTX_set_session_id_context(handle, [1], 1)
        }
        if options.selectsALPN {
            unsafe SSL_CTX_set_alpn_select_cb(handle, selectHTTP2, nil)
        }
        guard isGood else { throw TLSPeer.Failed() }
    }

    deinit { unsafe SSL_CTX_free(handle) }
}

/// "h2" in the ALPN encoding, for the lifetime of the process.
private nonisolated(unsafe) let chosenProtocol: UnsafeMutablePointer<UInt8> = {
    let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: 2)
    unsafe bytes[0] = UInt8(ascii: "h")
    unsafe bytes[1] = UInt8(ascii: "2")
    return unsafe bytes
}()

private func selectHTTP2(
    _: OpaquePointer?,
    _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ count: UnsafeMutablePointer<UInt8>?,
    _: UnsafePointer<UInt8>?,
    _: UInt32,
    _: UnsafeMutableRawPointer?
) -> Int32 {
    unsafe chosen?.pointee = UnsafePointer(chosenProtocol)
    unsafe count?.pointee = 2
    return SSL_TLSEXT_ERR_OK
}
