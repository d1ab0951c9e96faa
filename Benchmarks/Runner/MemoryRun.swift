/// Peak memory of a million pushes that wait in memory and are offered as fast as the core takes them.
struct MemoryRun {
    /// The targets of the APNs client.
    private static let limitMiB = 200.0
    private let options: RunnerOptions
    private let stage: Stage

    init(_ options: RunnerOptions, _ stage: Stage) {
        self.options = options
        self.stage = stage
    }

    /// Measures and prints. Returns true if the peak is below the limit.
    ///
    /// - Throws: `BenchFailure`.
    func run() throws -> Bool {
        let count = options.requestCount ?? 1_000_000
        var isGood = true
        for latency in options.latencies {
            let server = try BenchServer(.accept, latency: latency, options, stage)
            defer { server.stop() }
            Progress.line("accept \(latency) ms: \(count) pushes over one connection")
            let run = BenchRun(client: .queue, connections: 1, requests: count)
            let sample = try run.measure(server, options, stage)
            isGood = isGood && sample.rssMiB < MemoryRun.limitMiB
            print(
                "\(count) queued pushes, \(latency) ms: peak \(Format.fixed(sample.rssMiB, digits: 1)) MiB "
                    + "(limit \(Int(MemoryRun.limitMiB))), \(Int(sample.perSecond))/s, "
                    + "\(Format.fixed(sample.cpuMicroseconds)) µs CPU each"
            )
        }
        return isGood
    }
}
