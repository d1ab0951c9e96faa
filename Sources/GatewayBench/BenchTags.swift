import ArgumentParser
import CommandSupport
import Foundation
import Model

/// `bench tags`: how fast an audience by tags is expanded into slices.
struct BenchTags: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tags",
        abstract:
            "Measure the expansion of tag expressions into slices, compared with plain scans of the same rows.",
        discussion: """
            The result of each expression is compared with a set computed without tags. 'rows' is the number of index rows of the tags in the \
            expression, or of all identities where it tests only for absence: the minimum that any evaluation reads. 'paged' is the ratio to reading \
            these rows in pages of 500, each page by its own statement; 'scan' is the ratio to one statement per index that counts them.
            """
    )

    @Option(help: "Number of identities.") var identities = 1_000_000
    @Option(help: "Turns per expression.") var turns = 3
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard (1000...5_000_000).contains(identities) else {
            throw ValidationError("--identities must be 1000 to 5000000")
        }
        guard (1...50).contains(turns) else { throw ValidationError("--turns must be 1 to 50") }
    }

    func run() async throws {
        try await BenchStage.with(peer: nil, nodes: 1) { stage in
            let samples = try await TagsRun(stage: stage, identities: identities, turns: turns).measure()
            let settings = try await stage.settings()
            guard json else {
                let rows = samples.map { sample in
                    [
                        sample.name, "\(sample.count)", "\(sample.rows)", String(format: "%.3f s", sample.seconds),
                        String(format: "%.0f/s", sample.perSecond), String(format: "%.2f", sample.pagedRatio),
                        String(format: "%.2f", sample.scanRatio),
                    ]
                }
                Console.print(
                    Console.table(["expression", "identities", "rows", "expansion", "rate", "paged", "scan"], rows)
                        + "\n" + settings.text
                )
                return
            }
            func number(_ value: Double) -> JSON { .number(String(format: "%.3f", value)) }
            for sample in samples {
                Console.print(
                    [
                        "expression": .string(sample.name), "identities": .int(sample.count), "rows": .int(sample.rows),
                        "of": .int(identities),
                        "seconds": number(sample.seconds), "perSecond": number(sample.perSecond),
                        "ratioToPagedScan": number(sample.pagedRatio), "ratioToScan": number(sample.scanRatio),
                        "settings": settings.json,
                    ] as JSON
                )
            }
        }
    }
}
