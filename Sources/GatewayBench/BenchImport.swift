import ArgumentParser
import CommandSupport
import Foundation
import Model

/// `bench import`: a file of devices into the database, by the command itself, beside COPY of the same rows.
struct BenchImport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Measure 'devices import' of a file of new devices, against COPY of the same rows.",
        discussion: """
            Starts its own PostgreSQL and gateway. The ceiling: binary COPY by psql of the same device and identity rows into tables with the same columns \
            and indexes. A figure is the run with the median ratio. 'scripts/bench import' builds what it needs.
            """
    )

    /// 10,000,000: the rows of more do not fit beside a bench database on one machine.
    static let rowLimit = 10_000_000

    @Option(help: "How many rows the file has.") var rows = 1_000_000
    @Option(help: "How often it is imported into empty tables; the median counts.") var runs = 3
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard (1...Self.rowLimit).contains(rows) else {
            throw ValidationError("--rows must be 1 to \(Self.rowLimit)")
        }
        guard (1...100).contains(runs) else { throw ValidationError("--runs must be 1 to 100") }
    }

    func run() async throws {
        try await BenchStage.with(peer: nil, nodes: 1) { stage in
            let work = ImportRun(stage: stage, program: Bench.program.path, rows: rows)
            try work.writeFile()
            var samples: [ImportSample] = []
            for run in 1...runs {
                let sample = try await work.measure()
                samples.append(sample)
                Console.error("run \(run): \(sample)")
            }
            samples.sort { $0.ratio < $1.ratio }
            let report = ImportReport(
                rows: rows,
                sample: samples[samples.count / 2],
                settings: try await stage.settings()
            )
            if json { Console.print(report.json) } else { Console.print(report.text) }
        }
    }
}

/// What one import cost, and COPY of what it wrote.
struct ImportSample: Sendable, CustomStringConvertible {
    var seconds: Double
    var perSecond: Double
    var copyPerSecond: Double
    /// Of the importing process.
    var peakMiB: Double
    /// CPU per row.
    var gatewayMicroseconds: Double
    var postgresMicroseconds: Double

    var ratio: Double { perSecond / copyPerSecond }

    var description: String {
        String(
            format: "%.2f s, %.0f rows/s, COPY %.0f/s, ratio %.2f, CPU µs: import %.1f, PostgreSQL %.1f, %.0f MiB",
            seconds,
            perSecond,
            copyPerSecond,
            ratio,
            gatewayMicroseconds,
            postgresMicroseconds,
            peakMiB
        )
    }
}

/// The median run beside its ceiling.
struct ImportReport: Sendable {
    var rows: Int
    var sample: ImportSample
    /// PostgreSQL's, by name.
    var settings: [(String, String)]

    var json: JSON {
        [
            "rows": .int(rows), "seconds": Self.number(sample.seconds, 3),
            "perSecond": Self.number(sample.perSecond, 0), "copyPerSecond": Self.number(sample.copyPerSecond, 0),
            "ratioToCopy": Self.number(sample.ratio, 3), "rssMiB": Self.number(sample.peakMiB, 0),
            "postgresCpuMicroseconds": Self.number(sample.postgresMicroseconds, 1),
            "gatewayCpuMicroseconds": Self.number(sample.gatewayMicroseconds, 1),
            "settings": .object(JSONObject(settings.map { ($0.0, .string($0.1)) })),
        ]
    }

    var text: String {
        let table: [[String]] = [
            ["first row → last commit, program start included", String(format: "%.2f s", sample.seconds)],
            ["rows/s", String(format: "%.0f", sample.perSecond)],
            ["ceiling: COPY of the same rows", String(format: "%.0f/s", sample.copyPerSecond)],
            ["ratio", String(format: "%.2f", sample.ratio)],
            ["CPU per row, import", String(format: "%.1f µs", sample.gatewayMicroseconds)],
            ["CPU per row, PostgreSQL", String(format: "%.1f µs", sample.postgresMicroseconds)],
            ["peak memory of the import", String(format: "%.0f MiB", sample.peakMiB)],
        ]
        return Console.table(["\(rows) rows", "median run"], table) + "\n"
            + settings.map { "\($0.0) = \($0.1)" }.joined(separator: ", ")
    }

    private static func number(_ value: Double, _ digits: Int) -> JSON {
        .number(String(format: "%.\(digits)f", value))
    }
}
