import ArgumentParser
import CommandSupport
import Foundation
import Model

/// `bench calls`: the most frequent calls of apps at full speed, compared with the web framework's own hello-world.
struct BenchCalls: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calls",
        abstract: "Measure registrations, receipts and reads of apps, in pairs with the web framework's hello-world.",
        discussion: """
            The gateway and the hello-world share one core; PostgreSQL and wrk share the other. Every call writes and is answered after its commit; the run \
            then checks that the database contains the answered writes. 'ratio' is the median of the pairs' ratios to the hello-world.
            """
    )

    @Option(help: "Seconds per turn.") var seconds = 5
    @Option(help: "Turns per call.") var pairs = 3
    @Option(help: "Number of connections of wrk.") var connections = 256
    @Option(help: "Number of devices with the message that receipts and reads refer to.") var devices = 200_000
    @Option(help: "The core of the gateway and of the hello-world.") var gatewayCore = 0
    @Option(help: "The core of PostgreSQL and of wrk.") var otherCore = 1
    @Option(help: "The apns-accept-server program. Default: in the directory of this program.") var peer: String?
    @Option(help: "The hello-server program. Default: in the directory of this program.") var hello: String?
    @Option(help: "The push-gateway program to measure, for comparisons. Default: this program.") var gateway: String?
    @Option(help: "Measure only calls whose name has this prefix ('received'); may be repeated. Default: all.")
    var only: [String] = []
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard (1...120).contains(seconds) else { throw ValidationError("--seconds must be 1 to 120") }
        guard (1...100).contains(pairs) else { throw ValidationError("--pairs must be 1 to 100") }
        guard (1...1024).contains(connections) else { throw ValidationError("--connections must be 1 to 1024") }
        guard (1000...2_000_000).contains(devices) else { throw ValidationError("--devices must be 1000 to 2000000") }
        guard (0...1023).contains(gatewayCore), (0...1023).contains(otherCore), gatewayCore != otherCore else {
            throw ValidationError("--gateway-core and --other-core must be different cores")
        }
    }

    func run() async throws {
        let hello = hello ?? Bench.program.deletingLastPathComponent().appendingPathComponent("hello-server").path
        try await BenchStage.with(gateway: gateway, peer: peer ?? Bench.peer, nodes: 1, core: gatewayCore) { stage in
            let bench = CallsRun(
                stage: stage,
                seconds: seconds,
                connections: connections,
                devices: devices,
                only: only,
                gatewayCore: gatewayCore,
                otherCore: otherCore
            )
            let samples = try await bench.measure(pairs: pairs, hello: hello)
            try await report(stage, samples)
        }
    }

    private func report(_ stage: BenchStage, _ samples: [CallsSample]) async throws {
        let settings = try await stage.settings()
        guard json else {
            let rows = samples.map { sample in
                [
                    sample.name, String(format: "%.0f", sample.perSecond), String(format: "%.1f ms", sample.p99),
                    String(format: "%.2f", sample.ratio), String(format: "%.0f µs", sample.gatewayMicroseconds),
                    String(format: "%.0f µs", sample.postgresMicroseconds),
                ]
            }
            Console.print(
                Console.table(["call", "req/s", "p99", "ratio", "gateway CPU", "PostgreSQL CPU"], rows) + "\n"
                    + settings.text
            )
            return
        }
        func number(_ value: Double) -> JSON { .number(String(format: "%.3f", value)) }
        for sample in samples {
            Console.print(
                [
                    "call": .string(sample.name), "perSecond": number(sample.perSecond), "p99Ms": number(sample.p99),
                    "ratioToHello": number(sample.ratio), "gatewayCpuMicroseconds": number(sample.gatewayMicroseconds),
                    "postgresCpuMicroseconds": number(sample.postgresMicroseconds),
                    "settings": settings.json,
                ] as JSON
            )
        }
    }
}
