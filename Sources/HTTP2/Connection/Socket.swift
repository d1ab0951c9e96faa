internal import CLinuxEvents
internal import Glibc

/// A non-blocking TCP socket. Owned by one driver; `deinit` closes it.
final class Socket {
    /// The result of a call.
    enum Result: Equatable {
        /// This many bytes were transferred.
        case bytes(Int)
        /// The call would block: wait for epoll.
        case wouldBlock
        /// The peer has closed its side.
        case ended
    }

    let descriptor: Int32

    /// Creates a socket and starts to connect it. When it becomes writable, the attempt is decided.
    ///
    /// - Throws: `connectFailed`.
    init(connectingTo address: SocketAddress, timeouts: HTTP2Timeouts) throws(HTTP2Error) {
        let kind = gateway_SOCK_STREAM | gateway_SOCK_FLAGS
        descriptor = socket(address.family, kind, 0)
        guard descriptor >= 0 else { throw .system("socket", errno, .connectFailed) }
        setOption(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        setOption(SOL_SOCKET, SO_KEEPALIVE, 1)
        setOption(Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, unlessZero: timeouts.tcpUser / .milliseconds(1))
        // After that a probe every ten seconds; TCP_USER_TIMEOUT decides when the connection is dead.
        setOption(Int32(IPPROTO_TCP), TCP_KEEPIDLE, unlessZero: timeouts.tcpKeepAlive / .seconds(1))
        setOption(Int32(IPPROTO_TCP), TCP_KEEPINTVL, unlessZero: min(10, timeouts.tcpKeepAlive / .seconds(1)))
        guard connect(to: address) == 0 || errno == EINPROGRESS else { throw .system("connect", errno, .connectFailed) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Why connecting failed; nil if it did not fail.
    var connectError: HTTP2Error? {
        var number: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &number, &size) == 0 else {
            return .system("getsockopt", errno, .connectFailed)
        }
        return number == 0 ? nil : .system("connect", number, .connectFailed)
    }

    /// Reads the available bytes.
    ///
    /// - Throws: `connectionLost`.
    func receive(into buffer: UnsafeMutableBufferPointer<UInt8>) throws(HTTP2Error) -> Result {
        let count = unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
        if count > 0 { return .bytes(count) }
        if count == 0 { return .ended }
        if errno == EAGAIN || errno == EINTR { return .wouldBlock }
        throw lost("recv")
    }

    /// Writes as many bytes as the socket accepts.
    ///
    /// - Throws: `connectionLost`.
    func send(_ bytes: UnsafeBufferPointer<UInt8>) throws(HTTP2Error) -> Result {
        // MSG_NOSIGNAL: a closed peer must not end the process by SIGPIPE.
        let count = unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        if count >= 0 { return .bytes(count) }
        if errno == EAGAIN || errno == EINTR { return .wouldBlock }
        throw lost("send")
    }

    // MARK: Private

    private func lost(_ call: String) -> HTTP2Error {
        HTTP2Error(.connectionLost, underlying: HTTP2Error.system(call).underlying)
    }

    private func setOption(_ level: Int32, _ name: Int32, _ value: Int32) {
        var value = value
        // A refused option affects speed, not correctness.
        _ = unsafe setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    private func setOption(_ level: Int32, _ name: Int32, unlessZero value: Double) {
        // The kernel accepts at most 32,767 for TCP_KEEPIDLE and more for the other two options.
        let most = name == TCP_USER_TIMEOUT ? Double(Int32.max) : 32_767
        if value > 0 { setOption(level, name, Int32(max(1, min(value.rounded(), most)))) }
    }

    private func connect(to address: SocketAddress) -> Int32 {
        unsafe address.bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return -1 }
            let name = unsafe base.assumingMemoryBound(to: sockaddr.self)
            return unsafe Glibc.connect(descriptor, name, socklen_t(bytes.count))
        }
    }
}
