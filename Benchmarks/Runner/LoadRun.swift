import FoundationEssentials
import Glibc

/// The whole table: every server and latency, every number of connections and every client, alternating.
struct LoadRun {
    private let options: RunnerOptions
    private let stage: Stage
    private let clients: [ClientKind]
    private let tokens: [String]

    init(_ options: RunnerOptions, _ stage: Stage) throws {
        self.options = options
        self.stage = stage
        clients = [.h2load] + options.clients.filter { $0 != .h2load && $0.isInstalled }
        for client in options.clients where !client.isInstalled {
            Progress.line("skipped: \(client.rawValue) is not installed")
        }
        let child = try Child(
            [stage.programs + "/apns-bench", "--client", "tokens", "--tokens", String(Stage.pathCount)],
            core: options.serverCore,
            outputFile: stage.path("tokens")
        )
        guard try child.wait(limit: 30).status == 0 else { throw BenchFailure("apns-bench: \(child.errors)") }
        tokens = child.output.split(separator: "\n").map(String.init)
        try stage.writeFiles(tokens: tokens)
    }

    /// Measures and prints. Returns true if nothing failed; a client that fails loses its row, and the others continue.
    ///
    /// - Throws: `BenchFailure` if a server cannot be started.
    func run() throws -> Bool {
        var rows: [Row] = []
        var isGood = true
        for kind in options.servers {
            for latency in options.latencies {
                // Only the other two servers can delay answers.
                if kind == .nghttpd, latency > 0 { continue }
                let stage = try measure(kind, latency)
                rows += stage.rows
                isGood = isGood && stage.isGood
            }
        }
        let report = Report(options, rows)
        print(options.printsJSON ? report.json : report.table)
        return isGood
    }

    private func measure(_ kind: ServerKind, _ latency: Int) throws -> (rows: [Row], isGood: Bool) {
        let server = try BenchServer(kind, latency: latency, options, stage)
        defer { server.stop() }
        try stage.writePaths(port: server.port, tokens: tokens)
        var rows: [Row] = []
        var tally = Tally()
        for connections in options.connectionCounts {
            tally.samples = [:]
            for pair in 1...options.pairCount {
                for client in clients where !(client == .aioapns && kind == .nghttpd) {
                    let requests = requestCount(client, kind, latency, connections)
                    let run = BenchRun(client: client, connections: connections, requests: requests)
                    let place =
                        "\(kind.rawValue) \(latency) ms, \(connections) conn., pair \(pair)/\(options.pairCount)"
                    take(run, server, place, &tally)
                }
            }
            let reference = tally.samples[.h2load] ?? []
            for client in clients {
                guard let own = tally.samples[client], own.count == options.pairCount else { continue }
                rows.append(Row(client, kind, connections, latency, own, reference: reference))
            }
        }
        server.stop()
        if tally.isGood, let answers = server.answerCount, answers != tally.sent {
            Progress.line("FAILED: \(tally.sent) requests were answered with 200, but the server counted \(answers)")
            tally.isGood = false
        }
        return (rows, tally.isGood)
    }

    /// The counts of one server.
    private struct Tally {
        var samples: [ClientKind: [BenchRun.Sample]] = [:]
        var sent = 0
        var isGood = true
    }

    private func take(_ run: BenchRun, _ server: BenchServer, _ place: String, _ tally: inout Tally) {
        do {
            let sample = try run.measure(server, options, stage)
            tally.sent += run.requests
            tally.samples[run.client, default: []].append(sample)
            let figures = "\(Int(sample.perSecond))/s, \(Format.fixed(sample.cpuMicroseconds)) µs"
            Progress.line("\(place), \(run.client.rawValue): \(figures)")
        } catch {
            Progress.line("\(place), FAILED: \(error)")
            tally.isGood = false
        }
    }

    /// The number of requests for a run of one to a few seconds; with latency for several, because the first round trips are slow.
    private func requestCount(_ client: ClientKind, _ server: ServerKind, _ latency: Int, _ connections: Int) -> Int {
        if client == .aioapns { return min(4_000, options.requestCount ?? 4_000) }
        if let count = options.requestCount { return count }
        switch (server, latency) {
        case (.simulator, _): return 60_000
        case (_, 0): return 200_000
        default: return max(20_000, min(400_000, options.streamLimit * 1_000 / latency * 5 * connections))
        }
    }
}
