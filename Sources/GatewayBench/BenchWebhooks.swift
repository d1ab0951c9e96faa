import ArgumentParser
import CommandSupport
import Foundation
import Model

/// `bench webhooks`: how fast a webhook that is far behind catches up.
struct BenchWebhooks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhooks",
        abstract: "Measure how fast a webhook catches up, in the order of the log and in the order of devices.",
        discussion: """
            Fills the event log with deliveries to many devices, then resumes a paused webhook. Its receiver runs in this process and confirms each call at \
            once. A rate is the number of events divided by the time until the cursor is at the end of the log.
            """
    )

    @Option(help: "Number of events.") var events = 500_000
    @Option(help: "Number of devices.") var devices = 50_000
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard (1000...5_000_000).contains(events) else { throw ValidationError("--events must be 1000 to 5000000") }
        guard (100...events).contains(devices) else { throw ValidationError("--devices must be 100 to \(events)") }
    }

    func run() async throws {
        try await BenchStage.with(peer: nil, nodes: 1) { stage in
            let samples = try await WebhookRun(stage: stage, events: events, devices: devices).measure()
            let settings = try await stage.settings()
            guard json else {
                let rows = samples.map { sample in
                    [
                        sample.order, "\(sample.events)", "\(sample.calls)", String(format: "%.2f s", sample.seconds),
                        String(format: "%.0f/s", Double(sample.events) / sample.seconds),
                        String(format: "%.1f µs", sample.gatewayMicroseconds),
                        String(format: "%.1f µs", sample.postgresMicroseconds),
                    ]
                }
                Console.print(
                    Console.table(["order", "events", "calls", "time", "rate", "gateway CPU", "PostgreSQL CPU"], rows)
                        + "\n" + settings.map { "\($0.0) = \($0.1)" }.joined(separator: ", ")
                )
                return
            }
            func number(_ value: Double) -> JSON { .number(String(format: "%.3f", value)) }
            for sample in samples {
                Console.print(
                    [
                        "order": .string(sample.order), "events": .int(sample.events), "calls": .int(sample.calls),
                        "seconds": number(sample.seconds),
                        "perSecond": number(Double(sample.events) / sample.seconds),
                        "gatewayMicrosecondsPerEvent": number(sample.gatewayMicroseconds),
                        "postgresMicrosecondsPerEvent": number(sample.postgresMicroseconds),
                        "settings": .object(JSONObject(settings.map { ($0.0, .string($0.1)) })),
                    ] as JSON
                )
            }
        }
    }
}
