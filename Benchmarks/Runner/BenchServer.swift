import FoundationEssentials
import Glibc

/// The servers.
enum ServerKind: String, CaseIterable {
    /// Our own fast server: `Benchmarks/AcceptServer`.
    case accept
    /// `apns-simulator --mode accept`, on another HTTP/2 and TLS stack.
    case simulator
    /// nghttp2's own server, which tests transport only.
    case nghttpd
}

/// A running server.
final class BenchServer {
    let kind: ServerKind
    let port: Int
    /// A file with the CA that signed the server's certificate.
    let trustRootsFile: String
    private let child: Child

    /// Starts the server and waits until it listens.
    ///
    /// - Throws: `BenchFailure`.
    init(_ kind: ServerKind, latency: Int, _ options: RunnerOptions, _ stage: Stage) throws {
        self.kind = kind
        let addressFile = stage.path("simulator.json")
        try? FileManager.default.removeItem(atPath: addressFile)
        let output = stage.path("server")
        let (certificate, key) = (stage.path("cert.pem"), stage.path("key.pem"))
        let freePort = Int.random(in: 20_000..<32_000)
        let command: [String] =
            switch kind {
            case .accept:
                [
                    stage.programs + "/apns-accept-server", "--certificate", certificate, "--key", key,
                    "--max-streams", String(options.streamLimit), "--latency-ms", String(latency),
                ]
            case .simulator:
                [
                    stage.programs + "/apns-simulator", "--mode", "accept", "--latency-ms", String(latency),
                    "--max-streams", String(options.streamLimit), "--ca-out", stage.path("simulator-ca.pem"),
                    "--address-file", addressFile, "--log-level", "error",
                ]
            case .nghttpd:
                [
                    "/usr/sbin/nghttpd", "-a", "127.0.0.1", "-m", String(options.streamLimit), "-d", stage.path("www"),
                    String(freePort), key, certificate,
                ]
            }
        let child = try Child(command, core: options.serverCore, outputFile: output)
        self.child = child
        trustRootsFile = stage.path(kind == .simulator ? "simulator-ca.pem" : "ca.pem")
        port = try BenchServer.wait(for: kind.rawValue, child) {
            switch kind {
            case .accept: BenchServer.decode(Listening.self, output)?.port
            case .simulator: BenchServer.decode(Addresses.self, addressFile)?.port
            case .nghttpd: BenchServer.listens(freePort) ? freePort : nil
            }
        }
    }

    /// The CPU time of the server so far. Unit: seconds.
    var cpuSeconds: Double { child.cpuSeconds }

    /// Stops the server.
    func stop() { child.stop() }

    /// The server's count of answers, if it has one; valid after `stop`.
    var answerCount: Int? {
        guard kind == .accept, let line = child.output.split(separator: "\n").last else { return nil }
        return (try? JSONDecoder().decode(Counted.self, from: Data(line.utf8)))?.answers
    }

    // MARK: Private

    private struct Listening: Decodable { let port: Int }
    private struct Counted: Decodable { let answers: Int }
    private struct Addresses: Decodable {
        let apns: String
        var port: Int? { apns.split(separator: ":").last.flatMap { Int($0) } }
    }

    private static func decode<Value: Decodable>(_: Value.Type, _ file: String) -> Value? {
        (try? Data(contentsOf: URL(filePath: file))).flatMap { try? JSONDecoder().decode(Value.self, from: $0) }
    }

    /// Polls every 20 ms, for 10 s.
    private static func wait(for name: String, _ child: Child, _ port: () -> Int?) throws -> Int {
        for _ in 0..<500 {
            if let port = port() { return port }
            usleep(20_000)
        }
        throw BenchFailure("\(name) does not listen: \(child.errors)")
    }

    private static func listens(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
