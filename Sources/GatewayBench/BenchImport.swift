import ArgumentParser
import CommandSupport
import Foundation
import Model

/// `bench import`: the import of a device file by the command itself, compared with COPY of the same rows.
struct BenchImport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Measure 'devices import' of a file of new devices, against COPY of the same rows.",
        discussion: """
            Starts its own PostgreSQL and gateway. The ceiling is binary COPY by psql of the same device and identity rows into tables with the same columns \
            and indexes. The result is the run with the median ratio. With --formats, each run also imports the same number of devices in these formats, and \
            the result states their rates as ratios to that of a CSV file with the same facts in the same run. 'scripts/bench import' builds the required programs.
            """
    )

    /// 10,000,000: more rows do not fit on one machine together with a benchmark database.
    static let rowLimit = 10_000_000

    @Option(help: "Number of rows in the file.") var rows = 1_000_000
    @Option(help: "Number of imports into empty tables; the result is the median.") var runs = 3
    @Option(help: "Further formats, separated by commas: map, braze, notificationhubs.") var formats = ""
    @Flag(help: "Compress the files of all formats with gzip, as vendors deliver them.") var gzip = false
    @Flag(help: "Print JSON.") var json = false

    private var further: [ImportFormat?] { formats.split(separator: ",").map { ImportFormat(rawValue: String($0)) } }

    func validate() throws {
        guard !further.contains(nil) else { throw ValidationError("--formats must be of map, braze, notificationhubs") }
        guard (1...Self.rowLimit).contains(rows) else {
            throw ValidationError("--rows must be 1 to \(Self.rowLimit)")
        }
        guard (1...100).contains(runs) else { throw ValidationError("--runs must be 1 to 100") }
    }

    func run() async throws {
        try await BenchStage.with(peer: nil, nodes: 1) { stage in
            let work = ImportRun(stage: stage, program: Bench.program.path, rows: rows, isCompressed: gzip)
            let others = further.compactMap(\.self).filter { $0 != .csv }
            let csv = ImportFile(format: .csv)
            try await work.write(csv)
            for format in others {
                try await work.write(ImportFile(format: format))
                if format.hasOwnFacts { try await work.write(ImportFile(format: format, isTable: true)) }
            }
            var samples: [ImportSample] = []
            var ratios: [ImportFormat: [Double]] = [:]
            var peaks: [ImportFormat: Double] = [:]
            for run in 1...runs {
                let sample = try await work.measure(csv)
                samples.append(sample)
                Console.error("run \(run): \(sample)")
                for format in others {
                    var table = sample
                    if format.hasOwnFacts {
                        table = try await work.measure(ImportFile(format: format, isTable: true))
                        Console.error("run \(run), CSV with the facts of \(format.rawValue): \(table)")
                    }
                    let other = try await work.measure(ImportFile(format: format))
                    ratios[format, default: []].append(other.perSecond / table.perSecond)
                    peaks[format] = max(peaks[format] ?? 0, other.peakMiB)
                    Console.error("run \(run), \(format.rawValue): \(other)")
                }
            }
            samples.sort { $0.ratio < $1.ratio }
            let report = ImportReport(
                rows: rows,
                isCompressed: gzip,
                sample: samples[samples.count / 2],
                rateSpread: ImportReport.spread(samples.map(\.perSecond)),
                formats: others.map { format in
                    FormatSample(
                        name: format.rawValue,
                        ratio: BenchReport.median(ratios[format] ?? []),
                        peakMiB: peaks[format] ?? 0
                    )
                },
                settings: try await stage.settings()
            )
            if json { Console.print(report.json) } else { Console.print(report.text) }
        }
    }
}

/// The cost of one import, and of COPY of the same rows.
struct ImportSample: Sendable, CustomStringConvertible {
    var seconds: Double
    var perSecond: Double
    var copyPerSecond: Double
    /// The peak memory of the importing process.
    var peakMiB: Double
    /// CPU time per row.
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

/// The cost of another format.
struct FormatSample: Sendable {
    var name: String
    /// The rate, relative to that of a CSV file with the same facts in the same run; the median.
    var ratio: Double
    /// The peak memory of the importing process, of all runs.
    var peakMiB: Double
}

/// The median run with its ceiling.
struct ImportReport: Sendable {
    var rows: Int
    var isCompressed = false
    var sample: ImportSample
    /// The greatest rate of the runs, divided by the least: the noise of the machine.
    var rateSpread: Double
    var formats: [FormatSample] = []
    var settings: BenchSettings

    var json: JSON {
        [
            "rows": .int(rows), "gzip": .bool(isCompressed), "seconds": Self.number(sample.seconds, 3),
            "perSecond": Self.number(sample.perSecond, 0), "rateSpread": Self.number(rateSpread, 3),
            "copyPerSecond": Self.number(sample.copyPerSecond, 0),
            "ratioToCopy": Self.number(sample.ratio, 3), "rssMiB": Self.number(sample.peakMiB, 0),
            "postgresCpuMicroseconds": Self.number(sample.postgresMicroseconds, 1),
            "gatewayCpuMicroseconds": Self.number(sample.gatewayMicroseconds, 1),
            "ratiosToCSV": .object(JSONObject(formats.map { ($0.name, Self.number($0.ratio, 3)) })),
            "rssMiBOfFormats": .object(JSONObject(formats.map { ($0.name, Self.number($0.peakMiB, 0)) })),
            "settings": settings.json,
        ]
    }

    var text: String {
        let table: [[String]] =
            [
                ["first row → last commit, program start included", String(format: "%.2f s", sample.seconds)],
                ["rows/s", String(format: "%.0f", sample.perSecond)],
                ["the fastest run ÷ the slowest", String(format: "%.2f", rateSpread)],
                ["ceiling: COPY of the same rows", String(format: "%.0f/s", sample.copyPerSecond)],
                ["ratio", String(format: "%.2f", sample.ratio)],
                ["CPU per row, import", String(format: "%.1f µs", sample.gatewayMicroseconds)],
                ["CPU per row, PostgreSQL", String(format: "%.1f µs", sample.postgresMicroseconds)],
                ["peak memory of the import", String(format: "%.0f MiB", sample.peakMiB)],
            ]
            + formats.map {
                ["\($0.name), ratio to CSV, memory", String(format: "%.2f, %.0f MiB", $0.ratio, $0.peakMiB)]
            }
        let title = "\(rows) rows" + (isCompressed ? ", gzip" : "")
        return Console.table([title, "median run"], table) + "\n" + settings.text
    }

    /// The greatest rate, divided by the least; 1 for less than two.
    static func spread(_ rates: [Double]) -> Double {
        guard let least = rates.min(), let greatest = rates.max(), least > 0 else { return 1 }
        return greatest / least
    }

    private static func number(_ value: Double, _ digits: Int) -> JSON {
        .number(String(format: "%.\(digits)f", value))
    }
}
