import FoundationEssentials
import Glibc
import HTTP2

/// A bounded load over the HTTP/2 client: warm-up, then so many requests over so many connections on one loop.
@main
struct ApnsBench {
    static func main() async {
        do {
            try await run(LoadOptions(CommandLine.arguments.dropFirst()))
        } catch {
            print("apns-bench: \(error)")
            exit(2)
        }
    }

    private static func run(_ options: LoadOptions) async throws {
        let feeder = try Feeder(options)
        let loop = try EventLoop(name: "bench")
        let connections = try open(options, loop, feeder)
        if let error = await feeder.waitUntilOpen(connections.count) { throw error }
        _ = await feeder.run(options.warmUpCount, over: connections)
        // clock(): CPU time of all threads (clock(3)).
        let (cpuStart, start) = (clock(), ContinuousClock.now)
        let counts = await feeder.run(options.requestCount, over: connections)
        let (cpu, elapsed) = (clock() - cpuStart, start.duration(to: .now))
        loop.shutdown()
        let seconds = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
        let report = LoadReport(counts, seconds: seconds, cpuSeconds: Double(cpu) / Double(CLOCKS_PER_SEC))
        print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
        if counts.failed > 0 { exit(1) }
    }

    private static func open(_ options: LoadOptions, _ loop: EventLoop, _ feeder: Feeder) throws -> [Connection] {
        let roots: TrustRoots = options.trustRootsFile.isEmpty ? .system : .file(options.trustRootsFile)
        var configuration = ConnectionConfiguration(
            host: options.host,
            port: options.port,
            tls: try TLSContext(trustRoots: roots)
        )
        configuration.initialStreamLimit = 100
        configuration.limits.maxConcurrentStreams = options.streamLimit
        // As long as a provider token: 207 bytes.
        let token = "bearer " + String(repeating: "t", count: 200)
        let authorization = try HeaderBlock(fields: [(FieldName("authorization"), token)])
        return (0..<options.connectionCount).map { _ in
            let connection = Connection(configuration, loop: loop, observer: feeder)
            connection.setDispatchFields(authorization)
            connection.open()
            return connection
        }
    }
}
