import ArgumentParser
import CommandSupport
import Foundation
import Model

/// `bench retention`: one round of maintenance removes old rows while messages are accepted.
struct BenchRetention: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retention",
        abstract: "Measure the removal of old events and deliveries, and the acceptances meanwhile.",
        discussion: """
            Fills the database with events and deliveries past their time, measures messages to one recipient at a steady rate, and then runs one round of \
            maintenance while they continue. The result is the time of the round, the rows that it left, and the ratio of the p99 of the acceptances. The exit \
            status is 1 if the round takes longer than the period of maintenance, if it leaves rows, or if the ratio exceeds the limit. Times below five \
            milliseconds count as five, because the machine's own noise is of that size.
            """
    )

    /// 200,000,000: more rows do not fit on the disk of a test machine.
    private static let rowLimit = 200_000_000

    @Option(help: "Number of old events.") var events = 1_000_000
    @Option(help: "Number of old deliveries.") var deliveries = 100_000
    @Option(help: "Accepted messages per second.") var rate = 50
    @Option(help: "Seconds per phase.") var seconds = 10
    @Option(help: "Number of phases without maintenance.") var phases = 3
    @Option(help: "The largest ratio of the p99 of accepts, with and without maintenance.") var limit = 1.2
    @Flag(help: "Another tenant keeps the weeks, so that the deliveries are deleted one by one.") var rows = false
    @Option(help: "The apns-accept-server program. Default: in the directory of this program.") var peer: String?
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard (0...Self.rowLimit).contains(events), (0...Self.rowLimit).contains(deliveries) else {
            throw ValidationError("--events and --deliveries must be 0 to \(Self.rowLimit)")
        }
        guard limit >= 1 else { throw ValidationError("--limit must be at least 1") }
        guard (1...1000).contains(rate) else { throw ValidationError("--rate must be 1 to 1000") }
        guard (1...600).contains(seconds) else { throw ValidationError("--seconds must be 1 to 600") }
        guard (1...50).contains(phases) else { throw ValidationError("--phases must be 1 to 50") }
    }

    func run() async throws {
        var excesses: [String] = []
        try await BenchStage.with(peer: peer ?? Bench.peer, nodes: 1) { stage in
            let run = RetentionRun(stage: stage, events: events, deliveries: deliveries, keepsWeeks: rows)
            try await run.fill()
            let sample = try await run.measure(rate: Double(rate), phase: .seconds(seconds), phases: phases)
            excesses = sample.excesses(limit: limit)
            let settings = try await stage.settings()
            guard json else {
                Console.print(
                    Console.table(["\(events) events, \(deliveries) deliveries", ""], sample.rows) + "\n"
                        + settings.text
                )
                return
            }
            func number(_ value: Double) -> JSON { .number(String(format: "%.2f", value)) }
            Console.print(
                [
                    "events": .int(events), "deliveries": .int(deliveries), "rowByRow": .bool(rows),
                    "perSecond": .int(rate), "roundSeconds": number(sample.seconds), "left": .int(sample.left),
                    "acceptP99Ms": number(sample.without), "acceptP99MsDuring": number(sample.with),
                    "acceptMaximumMsDuring": number(sample.maximum), "acceptP99Ratio": number(sample.ratio),
                    "limit": number(limit), "passed": .bool(excesses.isEmpty),
                    "settings": settings.json,
                ] as JSON
            )
        }
        for excess in excesses { Console.error(excess) }
        guard excesses.isEmpty else { throw ExitCode(1) }
    }
}
