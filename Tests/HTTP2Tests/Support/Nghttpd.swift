import Glibc
import ProgramSupport

/// Debian's `nghttpd` as a child process: an HTTP/2 server over real TLS that shares only nghttp2 with the tested
/// connection.
final class Nghttpd: Sendable {
    private let program: ChildProgram
    private let root: TemporaryDirectory
    let port: Int

    struct DidNotStart: Error {}

    /// Starts it and returns when it listens.
    init(_ certificates: Certificates, arguments: [String] = ["-m", "100"]) throws {
        let port = try Listener().port
        self.port = port
        root = try TemporaryDirectory()
        try root.write("ok", [])
        program = try ChildProgram(
            "/usr/sbin/nghttpd",
            ["-a", "127.0.0.1", "-d", root.path] + arguments
                + [String(port), certificates.keyFile, certificates.certificateFile]
        )
        // It does not report when it listens, so the port is polled, for two seconds at most.
        for _ in 0..<400 where !isListening(on: port) { usleep(5_000) }
        guard isListening(on: port) else { throw DidNotStart() }
    }

    /// Stops the process: the socket stays open and nothing is answered.
    func freeze() { program.send(SIGSTOP) }

    func thaw() { program.send(SIGCONT) }

    /// Its release kills it too.
    func kill() { program.kill() }
}

/// Calls the body with the address of a loopback port, in the form for the socket calls.
func withLoopback(_ port: Int, _ body: (UnsafeMutablePointer<sockaddr>, inout socklen_t) -> Int32) -> (
    Int32, Int
) {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = UInt16(clamping: port).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, &size) }
    }
    return (result, Int(UInt16(bigEndian: address.sin_port)))
}

private func isListening(on port: Int) -> Bool {
    let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(probe) }
    return unsafe withLoopback(port) { unsafe connect(probe, $0, $1) }.0 == 0
}

/// A TCP socket on loopback that listens and never answers: the kernel only completes the TCP handshake.
struct Listener: ~Copyable {
    struct Failed: Error {}
    private let descriptor: Int32
    let port: Int

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let socket = descriptor
        let (result, port) = unsafe withLoopback(0) { name, size in
            let isBound = unsafe bind(socket, name, size) == 0 && listen(socket, 8) == 0
            return unsafe isBound ? getsockname(socket, name, &size) : -1
        }
        guard result == 0 else { throw Failed() }
        self.port = port
    }

    deinit { close(descriptor) }
}
