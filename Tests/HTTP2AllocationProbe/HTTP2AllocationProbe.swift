import Glibc
import HTTP2

/// Connects to a server repeatedly while OpenSSL's allocations fail: the first, the second, and so on.
///
///     http2-allocation-probe PORT AUTHORITY-FILE STRIDE
///
/// Prints the number of answers and the number of errors. Exits with 0 if each request and each connection ended exactly once; a trap ends
/// it otherwise.
@main
struct HTTP2AllocationProbe {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let port = Int(arguments[1]), let stride = Int(arguments[3]), stride > 0,
            Allocations.take()
        else { exit(2) }
        let loop = try EventLoop(name: "probe")
        // The contexts are created before any allocation fails.
        let tls = try TLSContext(trustRoots: .file(arguments[2]))
        var configuration = ConnectionConfiguration(host: "localhost", port: port, tls: tls)
        configuration.initialStreamLimit = 10
        configuration.timeouts.tls = .seconds(1)
        configuration.timeouts.drain = .seconds(1)

        var (answers, errors, failing) = (0, 0, 0)
        while true {
            Allocations.allow(failing, thenFailOnce: (failing / stride).isMultiple(of: 2))
            let isAnswered = try await Trial().run(configuration, on: loop)
            let left = Allocations.allowAll()
            if isAnswered { answers += 1 } else { errors += 1 }
            // The whole life of a connection took fewer allocations.
            if left > 0 { break }
            failing += stride
        }
        loop.shutdown()
        print("answers \(answers) errors \(errors) allocations \(failing)")
    }
}
