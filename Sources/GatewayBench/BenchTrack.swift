import ArgumentParser
import CommandSupport
import Foundation
import Model

/// `bench track`: batches of what users are and did, as the compatible call of Braze takes them.
struct BenchTrack: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "track",
        abstract: "Measure /users/track with full batches: of new users, of known ones, and the same batch again.",
        discussion: """
            The gateway has one core, PostgreSQL and wrk the other. A batch has as many attributes objects, events and purchases as --size says, each of \
            another user. It is answered after its commit; afterwards the database is asked whether its events and purchases are there.
            """
    )

    @Option(help: "Seconds of each turn.") var seconds = 5
    @Option(help: "Turns of each kind of batch.") var turns = 3
    @Option(help: "Connections of wrk.") var connections = 16
    @Option(help: "Attributes objects, events and purchases of a batch, each.") var size = 75
    @Option(help: "The core of the gateway.") var gatewayCore = 0
    @Option(help: "The core of PostgreSQL and of wrk.") var otherCore = 1
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard (1...120).contains(seconds) else { throw ValidationError("--seconds must be 1 to 120") }
        guard (1...50).contains(turns) else { throw ValidationError("--turns must be 1 to 50") }
        guard (1...1024).contains(connections) else { throw ValidationError("--connections must be 1 to 1024") }
        guard (1...75).contains(size) else { throw ValidationError("--size must be 1 to 75") }
        guard (0...1023).contains(gatewayCore), (0...1023).contains(otherCore), gatewayCore != otherCore else {
            throw ValidationError("--gateway-core and --other-core must be two cores")
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

    private func report(_ samples: [TrackSample], _ settings: [(String, String)]) {
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
                    + settings.map { "\($0.0) = \($0.1)" }.joined(separator: ", ")
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
                    "settings": .object(JSONObject(settings.map { ($0.0, .string($0.1)) })),
                ] as JSON
            )
        }
    }
}
