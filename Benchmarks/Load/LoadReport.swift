import FoundationEssentials

/// One run's figures, printed as one line of JSON.
struct LoadReport: Encodable {
    let requests: Int
    let failed: Int
    let seconds: Double
    let requestsPerSecond: Int
    let cpuMicrosecondsPerRequest: Double
    let peakResidentKiB: Int
    let p50Microseconds: Int
    let p99Microseconds: Int
    let statuses: [String: Int]

    init(_ counts: Feeder.Counts, seconds: Double, cpuSeconds: Double) {
        requests = counts.completed
        failed = counts.failed
        self.seconds = seconds
        requestsPerSecond = Int(Double(counts.completed) / seconds)
        cpuMicrosecondsPerRequest = (cpuSeconds * 100_000_000 / Double(counts.completed)).rounded() / 100
        peakResidentKiB = LoadReport.peakResidentKiB()
        let sorted = counts.latencies.sorted()
        p50Microseconds = LoadReport.percentile(50, sorted)
        p99Microseconds = LoadReport.percentile(99, sorted)
        statuses = Dictionary(uniqueKeysWithValues: counts.statuses.map { (String($0.key), $0.value) })
    }

    private static func percentile(_ percent: Int, _ sorted: [UInt32]) -> Int {
        sorted.isEmpty ? 0 : Int(sorted[min(sorted.count - 1, sorted.count * percent / 100)])
    }

    /// `VmHWM` of /proc/self/status (proc(5)), in KiB.
    private static func peakResidentKiB() -> Int {
        guard let data = try? Data(contentsOf: URL(filePath: "/proc/self/status")) else { return 0 }
        let text = String(decoding: data, as: UTF8.self)
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM") }) else { return 0 }
        return Int(line.filter(\.isNumber)) ?? 0
    }
}
