import ArgumentParser
import CommandSupport
import Foundation
import Model

/// `bench parity`: the cost of comparing observed calls with the vendor's answers.
struct BenchParity: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "parity",
        abstract: "Measure the CPU of observing an upstream's calls with parity, in pairs with observing without.",
        discussion: """
            This program observes registrations, sends and receipts of RationalOwl and the vendor's answers to them, without a network, and stores them in its \
            own PostgreSQL. The exit status is 1 if parity costs more than --limit times the CPU of observation without.
            """
    )

    @Option(help: "Number of devices per turn; each makes three calls.") var devices = 4_000
    @Option(help: "Number of pairs of turns; the result is the median.") var pairs = 5
    @Option(help: "The greatest ratio of the program's CPU with parity to that without.") var limit = 1.1
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard (100...100_000).contains(devices) else { throw ValidationError("--devices must be 100 to 100000") }
        guard (1...100).contains(pairs) else { throw ValidationError("--pairs must be 1 to 100") }
        guard (1...10).contains(limit) else { throw ValidationError("--limit must be 1 to 10") }
    }

    func run() async throws {
        try await BenchStage.with(peer: nil, nodes: 1) { stage in
            let samples = try await ParityRun(stage: stage, devices: devices).measure(pairs: pairs)
            report(samples, try await stage.settings())
            guard Self.median(samples, \.ratio) <= limit else { throw ExitCode(1) }
        }
    }

    private func report(_ samples: [ParityPair], _ settings: BenchSettings) {
        let (ratio, all) = (Self.median(samples, \.ratio), Self.median(samples, \.ratioOfAll))
        let (with, without) = (Self.median(samples, \.with.gateway), Self.median(samples, \.without.gateway))
        func number(_ value: Double) -> JSON { .number(String(format: "%.3f", value)) }
        if json {
            Console.print(
                [
                    "cpuMicrosecondsWith": number(with), "cpuMicrosecondsWithout": number(without),
                    "ratioToWithout": number(ratio), "ratioWithPostgres": number(all),
                    "settings": settings.json,
                ] as JSON
            )
        } else {
            let rows = [
                ["CPU per call with parity", String(format: "%.1f µs", with)],
                ["CPU per call without", String(format: "%.1f µs", without)],
                ["ratio", String(format: "%.3f", ratio)],
                ["ratio, PostgreSQL included", String(format: "%.3f", all)],
            ]
            Console.print(
                Console.table(["\(3 * devices) calls", "median of \(samples.count)"], rows) + "\n" + settings.text
            )
        }
    }

    private static func median(_ samples: [ParityPair], _ value: (ParityPair) -> Double) -> Double {
        BenchReport.median(samples.map(value))
    }
}
