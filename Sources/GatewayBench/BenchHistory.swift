import ArgumentParser
import CommandSupport
import Foundation
import Model

/// `bench history`: whether a page far back in a long history costs as much as the first page.
struct BenchHistory: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Measure pages of a long history while it grows: the first page, and the page 10,000 pages back.",
        discussion: """
            One device has all messages of these weeks and another device of the same user every tenth; a tenth of them is written during the measurement. \
            A user of UPMC also has all messages, nine of ten of them read. The pages are requested over HTTP, the first and the far page in turn; \
            for the unread count, the two requests are those of a user with few messages and of the user with all. 'ratio' is the ratio of the medians.
            """
    )

    @Option(help: "Number of messages.") var messages = 1_000_000
    @Option(help: "Number of weeks.") var weeks = 26
    @Option(help: "Distance of the far page, in pages of 50 messages; at most half of the history.") var back = 10_000
    @Option(help: "Number of requests per page.") var pages = 300
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard (1000...5_000_000).contains(messages) else {
            throw ValidationError("--messages must be 1000 to 5000000")
        }
        guard (1...50).contains(weeks) else { throw ValidationError("--weeks must be 1 to 50") }
        guard (1...messages / 100).contains(back) else {
            throw ValidationError("--back must be 1 to \(messages / 100): half of the history")
        }
        guard (10...10_000).contains(pages) else { throw ValidationError("--pages must be 10 to 10000") }
    }

    func run() async throws {
        try await BenchStage.with(peer: nil, nodes: 1) { stage in
            let run = HistoryRun(stage: stage, messages: messages, weeks: weeks, back: back, pages: pages)
            let samples = try await run.measure()
            let settings = try await stage.settings()
            guard json else {
                let rows = samples.map { sample in
                    [
                        sample.name, String(format: "%.2f ms", sample.first), String(format: "%.2f ms", sample.far),
                        String(format: "%.2f", sample.far / sample.first),
                    ]
                }
                Console.print(
                    Console.table(["call", "first p50", "\(back) back p50", "ratio"], rows) + "\n" + settings.text
                )
                return
            }
            func number(_ value: Double) -> JSON { .number(String(format: "%.3f", value)) }
            for sample in samples {
                Console.print(
                    [
                        "call": .string(sample.name), "messages": .int(messages), "weeks": .int(weeks),
                        "back": .int(back), "firstP50Ms": number(sample.first), "farP50Ms": number(sample.far),
                        "ratio": number(sample.far / sample.first),
                        "settings": settings.json,
                    ] as JSON
                )
            }
        }
    }
}
