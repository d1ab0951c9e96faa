package import ArgumentParser
import CommandSupport
import Foundation
import Model

/// `bench`: measures the throughput of this machine, compared with its upper bounds.
package struct Bench: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        abstract:
            "Measure the performance on this machine. Machines differ, so only 'neighbour', 'plans', 'retention', 'webhooks', 'analytics', 'reader', 'console', 'proxy' and 'parity' have thresholds.",
        subcommands: [
            BenchDeliver.self, BenchTransactional.self, BenchNeighbour.self, BenchImport.self, BenchCalls.self,
            BenchHistory.self, BenchPlans.self, BenchRetention.self, BenchTags.self, BenchTrack.self,
            BenchWebhooks.self, BenchAnalytics.self, BenchReader.self,
            BenchConsole.self, BenchProxy.self, BenchParity.self,
        ],
        defaultSubcommand: BenchDeliver.self
    )

    package init() {}

    /// The path of this program, which starts itself as a gateway.
    static var program: URL {
        (CommandLine.arguments.first.map { URL(fileURLWithPath: $0) } ?? URL(fileURLWithPath: "push-gateway"))
            .resolvingSymlinksInPath()
    }

    /// The path at which `scripts/bench` places the accept-only server.
    static var peer: String { program.deletingLastPathComponent().appendingPathComponent("apns-accept-server").path }
}

/// `bench deliver`: one message to everyone, from its submission to the last outcome in PostgreSQL.
struct BenchDeliver: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deliver",
        abstract: "Measure submit → last outcome of one message to many devices, against two ceilings of the same run.",
        discussion: """
            Starts its own PostgreSQL, gateways and accept-only APNs server. The ceilings are the APNs core alone against the same server, and COPY of the \
            same delivery and event rows into tables with the same indexes. 'scripts/bench deliver' builds the required programs.
            """
    )

    /// 10,000,000: more rows do not fit on one machine together with a benchmark database.
    static let deviceLimit = 10_000_000
    /// 8 nodes: more processes on one machine only compete for the cores.
    static let nodeLimit = 8

    @Option(help: "Number of devices.") var devices = 100_000
    @Option(help: "Number of gateway processes that share the database.") var nodes = 1
    @Option(help: "Number of consecutive messages to everyone; the result is the median.") var runs = 3
    @Option(help: "The apns-accept-server program. Default: in the directory of this program.") var peer: String?
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard (1...Self.deviceLimit).contains(devices) else {
            throw ValidationError("--devices must be 1 to \(Self.deviceLimit)")
        }
        guard (1...Self.nodeLimit).contains(nodes) else {
            throw ValidationError("--nodes must be 1 to \(Self.nodeLimit)")
        }
        guard (1...100).contains(runs) else { throw ValidationError("--runs must be 1 to 100") }
    }

    func run() async throws {
        try await BenchStage.with(peer: peer ?? Bench.peer, nodes: nodes) { stage in
            try await stage.makeAudience(devices)
            let core = try await BenchCeilings(stage: stage).apnsCore(pushes: min(devices, 200_000))
            Console.error(String(format: "ceiling: the APNs core alone %.0f/s", core))
            var samples: [BenchSample] = []
            for run in 1...runs {
                let sample = try await BenchRun(stage: stage, devices: devices).measure(run)
                samples.append(sample)
                Console.error("run \(run): \(sample)")
            }
            let copy = try await BenchCeilings(stage: stage).copy(of: devices)
            Console.error(String(format: "ceiling: COPY of the same rows %.0f/s", copy))
            samples.sort { $0.seconds < $1.seconds }
            let report = BenchReport(
                devices: devices,
                nodes: nodes,
                sample: samples[samples.count / 2],
                corePerSecond: core,
                copyPerSecond: copy,
                settings: try await stage.settings()
            )
            if json { Console.print(report.json) } else { Console.print(report.text) }
        }
    }
}
