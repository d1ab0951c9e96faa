import ArgumentParser
import CommandSupport
import Foundation
import Model

/// `bench analytics`: whether the time of a question depends on the number of rows.
struct BenchAnalytics: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "analytics",
        abstract: "Measure questions about counts, messages and devices, with a tenth of the rows and with all.",
        discussion: """
            Creates deliveries of one tenant, and the counts of many tenants for up to 400 days, as of about 50 deliveries per app and quarter \
            hour. At first a tenth of the deliveries, devices and tenants exists. The table has the p95 of each call with a tenth and with all, \
            and their ratio. Exit status 1: a p95 or a ratio is above its limit. The defaults need 25 GB and half an hour.
            """
    )

    /// 400 days: the longest range of a question, and the retention of counts.
    private static let dayLimit = 400

    @Option(help: "Number of deliveries of the measured tenant.") var deliveries = 10_000_000
    @Option(help: "Number of tenants with counts.") var tenants = 20
    @Option(help: "Number of apps of all tenants together.") var apps = 50
    @Option(help: "Number of days of the counts.") var days = 400
    @Option(help: "Number of calls of each kind.") var calls = 100
    @Option(help: "The largest p95 in milliseconds, for ranges up to 92 days.") var limit = 200.0
    @Option(help: "The largest p95 in milliseconds, for longer ranges.") var longLimit = 500.0
    @Option(help: "The largest ratio of the p95 to that with a tenth of the rows.") var ratio = 1.2
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard (10_000...100_000_000).contains(deliveries) else {
            throw ValidationError("--deliveries must be 10000 to 100000000")
        }
        guard (2...1000).contains(tenants) else { throw ValidationError("--tenants must be 2 to 1000") }
        // With more apps per tenant, a question about 400 days of all of them is refused.
        guard (tenants...4 * tenants).contains(apps) else {
            throw ValidationError("--apps must be one to four times the number of tenants")
        }
        guard (100...Self.dayLimit).contains(days) else {
            throw ValidationError("--days must be 100 to \(Self.dayLimit)")
        }
        guard (20...10_000).contains(calls) else { throw ValidationError("--calls must be 20 to 10000") }
        guard limit > 0, longLimit > 0, ratio >= 1 else {
            throw ValidationError("--limit and --long-limit must be above 0, and --ratio at least 1")
        }
    }

    /// The findings of a run.
    private struct Result {
        var samples: [AnalyticsSample]
        /// The peak memory of the gateway, with a tenth, with all, and after an export.
        var peaks: [Double]
        var exported: Double
    }

    func run() async throws {
        var found: [String] = []
        try await BenchStage.with(peer: nil, nodes: 1) { stage in
            let result = try await measure(stage)
            found = result.samples.flatMap { excesses($0) }
            try await report(stage, result)
        }
        for excess in found { Console.error(excess) }
        guard found.isEmpty else { throw ExitCode(1) }
    }

    private func measure(_ stage: BenchStage) async throws -> Result {
        let fill = AnalyticsFill(stage: stage, deliveries: deliveries, tenants: tenants, apps: apps, days: days)
        let run = AnalyticsRun(stage: stage, count: calls)
        let questions = AnalyticsRun.countCalls(days: days - 1)
        var peaks: [Double] = []
        func peak() -> Double { stage.nodes.map { ProcessUsage.peakMiB($0.processID) }.max() ?? 0 }
        func phase(isWhole: Bool) async throws -> (calls: [AnalyticsCall], times: [Double]) {
            let calls = try await run.objectCalls(AnalyticsFill.newest(isWhole: isWhole)) + questions
            let times = try await run.measure(calls)
            peaks.append(peak())
            return (calls, times)
        }
        try await fill.tenth()
        let tenth = try await phase(isWhole: false)
        try await fill.rest()
        let all = try await phase(isWhole: true)
        let exported = try await run.export(AnalyticsFill.newest(isWhole: true))
        peaks.append(peak())
        let samples = all.calls.enumerated().map { place, call in
            AnalyticsSample(name: call.name, isLong: call.isLong, tenth: tenth.times[place], all: all.times[place])
        }
        return Result(samples: samples, peaks: peaks, exported: exported)
    }

    private func excesses(_ sample: AnalyticsSample) -> [String] {
        sample.excesses(limit: sample.isLong ? longLimit : limit, ratio: ratio)
    }

    private func report(_ stage: BenchStage, _ result: Result) async throws {
        let settings = try await stage.settings()
        guard json else {
            let rows = result.samples.map { sample in
                [
                    sample.name, String(format: "%.1f ms", sample.tenth), String(format: "%.1f ms", sample.all),
                    String(format: "%.2f", sample.ratio),
                ]
            }
            let memory = result.peaks.map { String(format: "%.0f", $0) }.joined(separator: ", ")
            Console.print(
                Console.table(["call", "p95, a tenth", "p95, all", "ratio"], rows) + "\n"
                    + "peak memory of the gateway with a tenth, with all and after an export: \(memory) MiB\n"
                    + String(format: "export: %.0f lines/s\n", result.exported) + settings.text
            )
            return
        }
        func number(_ value: Double) -> JSON { .number(String(format: "%.2f", value)) }
        for sample in result.samples {
            Console.print(
                [
                    "call": .string(sample.name), "deliveries": .int(deliveries), "tenthP95Ms": number(sample.tenth),
                    "p95Ms": number(sample.all), "ratio": number(sample.ratio),
                    "passed": .bool(excesses(sample).isEmpty),
                ] as JSON
            )
        }
        Console.print(
            [
                "peakMiB": .array(result.peaks.map(number)), "exportedPerSecond": number(result.exported),
                "settings": settings.json,
            ] as JSON
        )
    }
}
