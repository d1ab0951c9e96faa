import ArgumentParser
import CommandSupport
import Foundation
import Model

/// `bench reader`: the cost of counting events and of following them, for a campaign.
struct BenchReader: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reader",
        abstract: "Measure the cost of the event reader and of a follower of the event log for a campaign.",
        discussion: """
            Each pair is one campaign to everyone without the event reader, one with it, and one with it and a follower of /v1/events, in turn. The results \
            are medians: the rate relative to that without the reader (without the follower), the time until everything is counted (until the follower has \
            the last event) after the end, relative to the campaign's duration, and the part of the CPU that counting takes. Exit status 1: one is \
            beyond its limit.
            """
    )

    @Option(help: "Number of devices.") var devices = 1_000_000
    @Option(help: "Number of pairs.") var pairs = 5
    @Option(help: "The smallest rate with the reader, relative to that without it.") var rate = 0.95
    @Option(help: "The smallest rate with a follower, relative to that without one.") var followedRate = 0.9
    @Option(help: "The longest time until everything is counted, relative to the campaign.") var catchUp = 0.5
    @Option(help: "The longest time until a follower has everything, relative to the campaign.") var lag = 0.1
    @Option(help: "The apns-accept-server program. Default: in the directory of this program.") var peer: String?
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard (1000...BenchDeliver.deviceLimit).contains(devices) else {
            throw ValidationError("--devices must be 1000 to \(BenchDeliver.deviceLimit)")
        }
        guard (1...50).contains(pairs) else { throw ValidationError("--pairs must be 1 to 50") }
        guard [rate, followedRate, catchUp, lag].allSatisfy({ $0 >= 0 }) else {
            throw ValidationError("--rate, --followed-rate, --catch-up and --lag must be at least 0")
        }
    }

    func run() async throws {
        var found: [String] = []
        try await BenchStage.with(peer: peer ?? Bench.peer, nodes: 1) { stage in
            try await stage.makeAudience(devices)
            let pairs = try await measure(stage)
            found = limits.excesses(pairs)
            try await report(stage, pairs)
        }
        for excess in found { Console.error(excess) }
        guard found.isEmpty else { throw ExitCode(1) }
    }

    private func measure(_ stage: BenchStage) async throws -> [ReaderPair] {
        let run = ReaderRun(stage: stage, devices: devices)
        // Warms up: the first campaign grows files and caches, and the reader begins.
        _ = try await run.measure(.with, 0)
        var found: [ReaderPair] = []
        for number in 0..<pairs {
            var samples: [ReaderRun.Kind: ReaderSample] = [:]
            // Another one is the first in each pair.
            for place in 0..<ReaderRun.Kind.allCases.count {
                let kind = ReaderRun.Kind.allCases[(number + place) % ReaderRun.Kind.allCases.count]
                samples[kind] = try await run.measure(kind, 1 + number * 3 + place)
            }
            guard let without = samples[.without], let with = samples[.with], let followed = samples[.followed] else {
                continue
            }
            let pair = ReaderPair(without: without, with: with, followed: followed)
            Console.error(
                String(
                    format: "pair %d: %.1f s, with the reader %.1f s, followed %.1f s",
                    number + 1,
                    without.seconds,
                    with.seconds,
                    followed.seconds
                )
            )
            found.append(pair)
        }
        return found
    }

    private static func median(_ pairs: [ReaderPair], _ value: (ReaderPair) -> Double) -> Double {
        BenchReport.median(pairs.map(value))
    }

    private var limits: ReaderLimits {
        ReaderLimits(rate: rate, followedRate: followedRate, catchUp: catchUp, lag: lag)
    }

    private func report(_ stage: BenchStage, _ pairs: [ReaderPair]) async throws {
        let settings = try await stage.settings()
        let results: [(name: String, key: String, value: Double)] = [
            ("rate with the reader, relative", "rateRatio", Self.median(pairs, \.rateRatio)),
            ("time until everything is counted, relative", "catchUpShare", Self.median(pairs, \.catchUpShare)),
            ("part of the CPU that counting takes", "cpuShare", Self.median(pairs, \.cpuShare)),
            ("rate with a follower, relative", "followedRatio", Self.median(pairs, \.followedRatio)),
            ("time until the follower has everything, relative", "lagShare", Self.median(pairs, \.lagShare)),
        ]
        guard json else {
            let rows = results.map { [$0.name, String(format: "%.3f", $0.value)] }
            Console.print(
                Console.table(["\(devices) devices, \(pairs.count) pairs", "median"], rows) + "\n" + settings.text
            )
            return
        }
        var object: JSONObject = ["devices": .int(devices), "pairs": .int(pairs.count)]
        for result in results { object[result.key] = .number(String(format: "%.3f", result.value)) }
        object["passed"] = .bool(limits.excesses(pairs).isEmpty)
        object["settings"] = settings.json
        Console.print(.object(object))
    }
}
