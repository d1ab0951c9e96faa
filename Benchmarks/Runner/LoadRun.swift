import FoundationEssentials
import Glibc

/// The whole table: every server and latency, every number of connections, every client, turn by turn.
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

    /// Measures and prints. True if nothing failed.
    ///
    /// - Throws: `BenchFailure`.
    func run() throws -> Bool {
        var rows: [Row] = []
        for kind in options.servers {
            for latency in options.latencies {
                // Only the other two can hold answers back.
                if kind == .nghttpd, latency > 0 { continue }
                rows += try measure(kind, latency)
            }
        }
        let report = Report(options, rows)
        print(options.printsJSON ? report.json : report.table)
        return true
    }

    private func measure(_ kind: ServerKind, _ latency: Int) throws -> [Row] {
        let server = try BenchServer(kind, latency: latency, options, stage)
        defer { server.stop() }
        try stage.writePaths(port: server.port, tokens: tokens)
        var rows: [Row] = []
        var sent = 0
        for connections in options.connectionCounts {
            var samples: [ClientKind: [BenchRun.Sample]] = [:]
            for pair in 1...options.pairCount {
                for client in clients {
                    if client == .aioapns, kind == .nghttpd { continue }
                    let run = BenchRun(
                        client: client,
                        connections: connections,
                        requests: requestCount(client, kind, latency, connections)
                    )
                    let sample = try run.measure(server, options, stage)
                    sent += run.requests
                    samples[client, default: []].append(sample)
                    Progress.line(
                        "\(kind.rawValue) \(latency) ms, \(connections) conn., pair \(pair)/\(options.pairCount), "
                            + "\(client.rawValue): \(Int(sample.perSecond))/s, \(Format.fixed(sample.cpuMicroseconds)) µs"
                    )
                }
            }
            let reference = samples[.h2load] ?? []
            for client in clients {
                guard let own = samples[client] else { continue }
                rows.append(Row(client, kind, connections, latency, own, reference: reference))
            }
        }
        server.stop()
        if let answers = server.answerCount, answers != sent {
            throw BenchFailure("\(sent) requests were answered with 200, but the server counted \(answers)")
        }
        return rows
    }

    /// Enough for a run of one to a few seconds; with latency, for several, because the first round trips are slow.
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
