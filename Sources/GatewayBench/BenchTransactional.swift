import ArgumentParser
import CommandSupport
import Foundation
import Model

/// `bench transactional`: messages to one recipient each, first at the maximum rate, then at half of it.
struct BenchTransactional: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transactional",
        abstract: "Measure messages to one recipient: the maximum rate of acceptance, and the latencies at half of it.",
        discussion: """
            'accept' is the time from the due time of a call to its 202, which follows the commit; the time includes any delay behind \
            other calls. 'accept → APNs' is the time from the message's acceptance to the push service's answer, as stored. The callers run in this \
            program, on the same machine.
            """
    )

    @Option(help: "Seconds per phase.") var seconds = 10
    @Option(help: "Number of concurrent callers.") var callers = 32
    @Option(help: "Number of devices; each message is sent to one of them.") var devices = 10_000
    @Option(help: "The apns-accept-server program. Default: in the directory of this program.") var peer: String?
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard (1...600).contains(seconds) else { throw ValidationError("--seconds must be 1 to 600") }
        guard (1...256).contains(callers) else { throw ValidationError("--callers must be 1 to 256") }
        guard (1...1_000_000).contains(devices) else { throw ValidationError("--devices must be 1 to 1000000") }
    }

    func run() async throws {
        try await BenchStage.with(peer: peer ?? Bench.peer, nodes: 1) { stage in
            try await stage.makeAudience(devices)
            let callers = TransactionalCallers(
                gateway: stage.gateway,
                apiKey: stage.apiKey,
                count: callers,
                devices: devices
            )
            // Warm-up: afterwards statements are prepared, connections are open, and the server has statistics, as a database in use does. A plan made for
            // empty tables scans whole indexes.
            _ = try await callers.asFastAsPossible(for: .seconds(2))
            try await stage.psql("ANALYZE")
            _ = try await callers.asFastAsPossible(for: .seconds(1))
            let most = Double(try await callers.asFastAsPossible(for: .seconds(seconds))) / Double(seconds)
            Console.error(String(format: "at most %.0f accepted/s", most))
            try await TransactionalPhase.settle(stage)
            let phase = try await TransactionalPhase.measure(
                callers,
                at: max(1, most / 2),
                for: .seconds(seconds),
                on: stage
            )
            try await report(stage, most, phase)
        }
    }

    private func report(_ stage: BenchStage, _ most: Double, _ phase: TransactionalPhase) async throws {
        let settings = try await stage.settings()
        guard json else {
            let rows = [
                ["accepted/s at most", String(format: "%.0f", most)],
                ["accepted/s measured at", String(format: "%.0f", Double(phase.accepts.count) / Double(seconds))],
                [
                    "accept p50, p99",
                    String(format: "%.1f ms, %.1f ms", phase.acceptMilliseconds(0.5), phase.acceptMilliseconds(0.99)),
                ],
                ["accept → APNs p50, p99", "\(phase.pushP50) ms, \(phase.pushP99) ms"],
            ]
            Console.print(
                Console.table(["\(callers) callers, \(devices) devices", "\(seconds) s"], rows) + "\n" + settings.text
            )
            return
        }
        func number(_ value: Double) -> JSON { .number(String(format: "%.1f", value)) }
        Console.print(
            [
                "callers": .int(callers), "devices": .int(devices), "maximumPerSecond": number(most),
                "perSecond": number(Double(phase.accepts.count) / Double(seconds)),
                "acceptP50Ms": number(phase.acceptMilliseconds(0.5)),
                "acceptP99Ms": number(phase.acceptMilliseconds(0.99)), "acceptToPushP50Ms": .int(phase.pushP50),
                "acceptToPushP99Ms": .int(phase.pushP99),
                "settings": settings.json,
            ] as JSON
        )
    }
}
