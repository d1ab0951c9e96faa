import FoundationEssentials
import Glibc

/// The clients.
enum ClientKind: String {
    /// The clients in the table.
    static let measured: [ClientKind] = [.h2load, .core, .http2, .aioapns]

    /// nghttp2's load generator, the reference for the others.
    case h2load
    /// The APNs core with batches.
    case core
    /// Our HTTP/2 client alone.
    case http2
    /// The APNs core with batches, fed from a list in memory: for `scripts/bench memory`.
    case queue
    /// A Python APNs client of other authors; skipped if it is not installed.
    case aioapns

    /// Whether the client is installed.
    var isInstalled: Bool {
        guard self == .aioapns else { return true }
        let folders = ["/usr/lib/python3/dist-packages/aioapns", "/usr/local/lib/python3/dist-packages/aioapns"]
        let files = FileManager.default
        return folders.contains { files.fileExists(atPath: $0) } && files.fileExists(atPath: ClientKind.script)
    }

    fileprivate static let script = "Benchmarks/Clients/aioapns_load.py"
}

/// One run of one client.
struct BenchRun {
    /// 10,000 different tokens, created when a client starts, as h2load reads its paths. That is more than the pushes in flight, and few enough that their
    /// creation does not affect the result. Every push has its own id.
    private static let tokenCount = 10_000

    let client: ClientKind
    let connections: Int
    let requests: Int

    /// The result of one run.
    struct Sample {
        var perSecond: Double
        /// CPU time per request.
        var cpuMicroseconds: Double
        var rssMiB: Double
        /// The share of its core that the server used.
        var serverBusy: Double
        /// The negotiated TLS parameters, if the client reports them.
        var cipher: String?
    }

    /// Runs the client to its end.
    ///
    /// - Throws: `BenchFailure` if it fails or if a request was not answered with 200.
    func measure(_ server: BenchServer, _ options: RunnerOptions, _ stage: Stage) throws -> Sample {
        let serverBefore = server.cpuSeconds
        let start = ContinuousClock.now
        let child = try Child(
            command(server, options, stage),
            core: options.clientCore,
            outputFile: stage.path("client"),
            environment: ["SSL_CERT_FILE=\(server.trustRootsFile)"]
        )
        let cost = try child.wait(limit: 300)
        let elapsed = start.duration(to: .now)
        let serverSeconds = server.cpuSeconds - serverBefore
        let result: (any ClientResult)? = client == .h2load ? H2loadResult(child.output) : OwnResult.read(child.output)
        guard cost.status == 0, let result, result.accepted == requests else {
            let words = String(child.output.suffix(600)) + String(child.errors.suffix(600))
            throw BenchFailure("\(client.rawValue) against \(server.kind.rawValue): \(words)")
        }
        return Sample(
            perSecond: result.perSecond,
            cpuMicroseconds: cost.cpuSeconds * 1e6 / Double(requests),
            rssMiB: Double(cost.peakKiB) / 1_024,
            serverBusy: serverSeconds / elapsed.inSeconds,
            cipher: result.cipher
        )
    }

    private func command(_ server: BenchServer, _ options: RunnerOptions, _ stage: Stage) -> [String] {
        switch client {
        case .h2load:
            return [
                "/usr/bin/h2load", "-c\(connections)", "-t1", "-m\(options.streamLimit)", "-n\(requests)",
                "-d", stage.path("body"), "-i", stage.path("paths"),
                "-H", "authorization: \(Stage.authorization)", "-H", "apns-topic: com.example.shop",
                "-H", "apns-push-type: alert", "-H", "apns-priority: 10",
                "-H", "apns-id: 6f1c2a3e-9b7d-4e58-8c21-0d5a4b9e7f36",
            ]
        case .core, .http2, .queue:
            return [
                stage.programs + "/apns-bench", "--client", client.rawValue, "--port", String(server.port),
                "--trust-roots", server.trustRootsFile, "--provider-key", stage.path("provider.p8"),
                "--authorization", Stage.authorization, "--connections", String(connections),
                "--requests", String(requests), "--streams", String(options.streamLimit),
                "--body-bytes", String(options.bodyBytes),
                // A file server has files only for these paths.
                "--tokens", String(server.kind == .nghttpd ? Stage.pathCount : BenchRun.tokenCount),
            ]
        case .aioapns:
            return [
                "/usr/bin/python3", ClientKind.script, "localhost", String(server.port), stage.path("provider.p8"),
                String(connections), String(requests), String(options.bodyBytes),
            ]
        }
    }
}

/// A client's report of its run.
private protocol ClientResult {
    var accepted: Int { get }
    var perSecond: Double { get }
    var cipher: String? { get }
}

/// The line of JSON from `apns-bench` or the Python script.
private struct OwnResult: ClientResult, Decodable {
    let accepted: Int
    let perSecond: Double
    var cipher: String? { nil }

    static func read(_ output: String) -> OwnResult? {
        guard let line = output.split(separator: "\n").last else { return nil }
        return try? JSONDecoder().decode(OwnResult.self, from: Data(line.utf8))
    }
}

/// h2load's report.
private struct H2loadResult: ClientResult {
    var accepted = 0
    var perSecond = 0.0
    var cipher: String?

    init?(_ output: String) {
        var version = ""
        for line in output.split(separator: "\n") {
            let words = line.split(separator: " ")
            if line.hasPrefix("finished in "), words.count > 3 { perSecond = Double(words[3]) ?? 0 }
            if line.hasPrefix("status codes: "), words.count > 2 { accepted = Int(words[2]) ?? 0 }
            if line.hasPrefix("TLS Protocol: ") { version = String(line.dropFirst(14)) }
            if line.hasPrefix("Cipher: ") { cipher = version + " " + line.dropFirst(8) }
        }
        if perSecond == 0 { return nil }
    }
}

extension Duration {
    /// The duration as a floating-point number of seconds.
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
