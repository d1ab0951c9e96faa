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
            once. A rate is the number of events divided by the time until the cursor is at the end of the log. With --campaign, a message is sent to all \
            devices, alone and while another webhook in the order of devices catches up. The exit status is 1 if a rate or the message's share is too low.
            """
    )

    @Option(help: "Number of events.") var events = 500_000
    @Option(help: "Number of devices.") var devices = 50_000
    @Option(help: "The least rate in the order of devices, in events per second.") var leastRate = 20_000
    @Flag(help: "Measure a message to all devices too, without a webhook that catches up and with one.")
    var campaign = false
    @Option(help: "The least share of its rate that the message must keep.") var leastShare = 0.9
    @Option(help: "The apns-accept-server program. Default: in the directory of this program.") var peer: String?
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard (1000...5_000_000).contains(events) else { throw ValidationError("--events must be 1000 to 5000000") }
        guard (100...events).contains(devices) else { throw ValidationError("--devices must be 100 to \(events)") }
    }

    func run() async throws {
        var shortfalls: [String] = []
        try await BenchStage.with(peer: campaign ? peer ?? Bench.peer : nil, nodes: 1) { stage in
            let run = WebhookRun(stage: stage, events: events, devices: devices)
            let report = try await run.measure(hasCampaign: campaign)
            shortfalls = report.shortfalls(leastRate: leastRate, leastShare: leastShare)
            show(report, try await stage.settings())
        }
        for shortfall in shortfalls { Console.error(shortfall) }
        guard shortfalls.isEmpty else { throw ExitCode(1) }
    }

    private func show(_ report: WebhookReport, _ settings: BenchSettings) {
        guard json else {
            let rows = report.samples.map { sample in
                [
                    sample.order, "\(sample.events)", "\(sample.calls)", String(format: "%.2f s", sample.seconds),
                    String(format: "%.0f/s", sample.rate), String(format: "%.1f µs", sample.gatewayMicroseconds),
                    String(format: "%.1f µs", sample.postgresMicroseconds),
                ]
            }
            let campaign = report.campaign.map {
                String(
                    format: "message to all devices: %.0f/s alone, %.0f/s meanwhile, ratio %.2f\n",
                    $0.alone,
                    $0.during,
                    $0.ratio
                )
            }
            Console.print(
                Console.table(["order", "events", "calls", "time", "rate", "gateway CPU", "PostgreSQL CPU"], rows)
                    + "\n" + (campaign ?? "") + settings.text
            )
            return
        }
        func number(_ value: Double) -> JSON { .number(String(format: "%.3f", value)) }
        for sample in report.samples {
            Console.print(
                [
                    "order": .string(sample.order), "events": .int(sample.events), "calls": .int(sample.calls),
                    "seconds": number(sample.seconds), "perSecond": number(sample.rate),
                    "gatewayMicrosecondsPerEvent": number(sample.gatewayMicroseconds),
                    "postgresMicrosecondsPerEvent": number(sample.postgresMicroseconds),
                    "settings": settings.json,
                ] as JSON
            )
        }
        guard let campaign = report.campaign else { return }
        Console.print(
            [
                "campaignPerSecond": number(campaign.alone), "campaignPerSecondMeanwhile": number(campaign.during),
                "campaignRatio": number(campaign.ratio),
            ] as JSON
        )
    }
}
