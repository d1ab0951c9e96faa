import ArgumentParser
import CommandSupport
import Foundation
import Model

/// `bench track`: batches of attributes, events and purchases of users, in the compatible call of Braze.
struct BenchTrack: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "track",
        abstract:
            "Measure /users/track with full batches: with new users, with known users, and with a repeated batch.",
        discussion: """
            The gateway uses one core; PostgreSQL and wrk share the other. A batch has --size attributes objects, events and purchases each, all of \
            different users. It is answered after its commit; the run then checks that the database contains its events and purchases.
            """
    )

    @Option(help: "Seconds per turn.") var seconds = 5
    @Option(help: "Turns per kind of batch.") var turns = 3
    @Option(help: "Number of connections of wrk.") var connections = 16
    @Option(help: "Number of attributes objects, of events and of purchases per batch.") var size = 75
    @Option(help: "The core of the gateway.") var gatewayCore = 0
    @Option(help: "The core of PostgreSQL and of wrk.") var otherCore = 1
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard (1...120).contains(seconds) else { throw ValidationError("--seconds must be 1 to 120") }
        guard (1...50).contains(turns) else { throw ValidationError("--turns must be 1 to 50") }
        guard (1...1024).contains(connections) else { throw ValidationError("--connections must be 1 to 1024") }
        guard (1...75).contains(size) else { throw ValidationError("--size must be 1 to 75") }
        guard (0...1023).contains(gatewayCore), (0...1023).contains(otherCore), gatewayCore != otherCore else {
            throw ValidationError("--gateway-core and --other-core must be different cores")
        }
    }

    func run() async throws {
        try await BenchStage.with(peer: nil, nodes: 1, core: gatewayCore) { stage in
            let bench = TrackRun(
                stage: stage,
                seconds: seconds,
                connections: connections,
                size: size,
                otherCore: otherCore
            )
            report(try await bench.measure(turns: turns), try await stage.settings())
        }
    }

    private func report(_ samples: [TrackSample], _ settings: BenchSettings) {
        func number(_ value: Double) -> JSON { .number(String(format: "%.3f", value)) }
        guard json else {
            let rows = samples.map { sample in
                [
                    sample.name, String(format: "%.0f", sample.perSecond),
                    String(format: "%.0f", sample.perSecond * Double(3 * size)), String(format: "%.1f ms", sample.p99),
                    String(format: "%.0f µs", sample.gatewayMicroseconds),
                    String(format: "%.0f µs", sample.postgresMicroseconds),
                ]
            }
            Console.print(
                Console.table(["batch", "calls/s", "elements/s", "p99", "gateway CPU", "PostgreSQL CPU"], rows) + "\n"
                    + settings.text
            )
            return
        }
        for sample in samples {
            Console.print(
                [
                    "batch": .string(sample.name), "perSecond": number(sample.perSecond), "p99Ms": number(sample.p99),
                    "elements": .number("\(3 * size)"),
                    "gatewayCpuMicroseconds": number(sample.gatewayMicroseconds),
                    "postgresCpuMicroseconds": number(sample.postgresMicroseconds),
                    "settings": settings.json,
                ] as JSON
            )
        }
    }
}
