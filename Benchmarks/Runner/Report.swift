import FoundationEssentials
import Glibc

/// The printed row of one client against one server.
struct Row {
    let client: ClientKind
    let server: ServerKind
    let connections: Int
    let latencyMs: Int
    /// Medians of the runs.
    let median: BenchRun.Sample
    /// Lowest and highest rate of the runs.
    let spread: ClosedRange<Double>
    let ratioToH2load: Double
    let cpuRatioToH2load: Double
    let cipher: String?

    init(
        _ client: ClientKind,
        _ server: ServerKind,
        _ connections: Int,
        _ latencyMs: Int,
        _ samples: [BenchRun.Sample],
        reference: [BenchRun.Sample]
    ) {
        self.client = client
        self.server = server
        self.connections = connections
        self.latencyMs = latencyMs
        median = BenchRun.Sample(
            perSecond: Row.median(samples.map(\.perSecond)),
            cpuMicroseconds: Row.median(samples.map(\.cpuMicroseconds)),
            rssMiB: Row.median(samples.map(\.rssMiB)),
            serverBusy: Row.median(samples.map(\.serverBusy))
        )
        let rates = samples.map(\.perSecond).sorted()
        spread = (rates.first ?? 0)...(rates.last ?? 0)
        ratioToH2load = Row.ratio(samples, to: reference, \.perSecond)
        cpuRatioToH2load = Row.ratio(samples, to: reference, \.cpuMicroseconds)
        cipher = samples.lazy.compactMap(\.cipher).first
    }

    private static func median(_ figures: [Double]) -> Double {
        let sorted = figures.sorted()
        guard !sorted.isEmpty else { return 0 }
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }

    /// The median of the ratios of the pairs. Other load on the machine varies over minutes, and less within a pair.
    private static func ratio(
        _ samples: [BenchRun.Sample],
        to reference: [BenchRun.Sample],
        _ figure: (BenchRun.Sample) -> Double
    ) -> Double {
        median(zip(samples, reference).map { figure($0) / figure($1) })
    }
}

/// All rows, as a table or as JSON.
struct Report {
    private let options: RunnerOptions
    private let rows: [Row]

    init(_ options: RunnerOptions, _ rows: [Row]) {
        self.options = options
        self.rows = rows
    }

    /// One JSON object per row, each on a line.
    var json: String {
        rows.map { row in
            #"{"client":"\#(row.client.rawValue)","server":"\#(row.server.rawValue)","connections":\#(row.connections),"#
                + #""latencyMs":\#(row.latencyMs),"perSecond":\#(Int(row.median.perSecond)),"#
                + #""cpuMicroseconds":\#(Format.fixed(row.median.cpuMicroseconds)),"#
                + #""rssMiB":\#(Format.fixed(row.median.rssMiB)),"ratioToH2load":\#(Format.fixed(row.ratioToH2load))}"#
        }.joined(separator: "\n")
    }

    /// A table for people.
    var table: String {
        var lines = [
            Machine.line,
            "\(options.pairCount) alternating runs each, medians; payload \(options.bodyBytes) bytes, authorization "
                + "\(Stage.authorization.utf8.count) bytes, \(options.streamLimit) streams; server on core "
                + "\(options.serverCore), client on core \(options.clientCore)",
        ]
        for server in options.servers {
            guard let cipher = rows.first(where: { $0.server == server && $0.cipher != nil })?.cipher else { continue }
            lines.append("\(server.rawValue): \(cipher)")
        }
        let columns = [
            "server", "ms", "conn", "client", "req/s", "lowest", "highest", "ratio", "CPU-µs", "CPU×", "RSS-MiB",
            "server%",
        ]
        lines += ["", Report.line(columns)]
        for row in rows {
            let isFirst = row.client == .h2load
            if isFirst, lines.last?.isEmpty == false, row.server.rawValue != "" { lines.append("") }
            lines.append(Report.line(cells(row)))
        }
        return (lines + targets).joined(separator: "\n")
    }

    private func cells(_ row: Row) -> [String] {
        [
            row.server.rawValue, String(row.latencyMs), String(row.connections), row.client.rawValue,
            String(Int(row.median.perSecond)), String(Int(row.spread.lowerBound)), String(Int(row.spread.upperBound)),
            Format.fixed(row.ratioToH2load), Format.fixed(row.median.cpuMicroseconds),
            Format.fixed(row.cpuRatioToH2load),
            Format.fixed(row.median.rssMiB, digits: 1), String(Int((row.median.serverBusy * 100).rounded())),
        ]
    }

    /// The targets of the APNs client, with the measured values.
    private var targets: [String] {
        var lines: [String] = []
        func find(_ client: ClientKind, _ latency: Int) -> Row? {
            rows.first { $0.client == client && $0.server == .accept && $0.connections == 1 && $0.latencyMs == latency }
        }
        if let row = find(.core, 0) {
            lines.append("core, CPU ≤ 1.30 × h2load: \(Format.fixed(row.cpuRatioToH2load))")
            lines.append("core, rate ≥ 0.85 × h2load: \(Format.fixed(row.ratioToH2load))")
        }
        if let latency = options.latencies.first(where: { $0 > 0 }), let row = find(.core, latency) {
            let bound = Double(options.streamLimit) * 1_000 / Double(latency)
            lines.append(
                "core, \(latency) ms, rate ≥ 0.95 × streams / latency: \(Format.fixed(row.median.perSecond / bound))"
            )
        }
        return lines.isEmpty ? [] : ["", "targets (accept, one connection):"] + lines
    }

    private static func line(_ cells: [String]) -> String {
        let widths = [10, 3, 4, 11, 8, 8, 8, 6, 8, 6, 8, 7]
        return zip(cells, widths).enumerated().map { index, cell in
            let (text, width) = cell
            let space = String(repeating: " ", count: max(0, width - text.count))
            return index == 0 || index == 3 ? text + space : space + text
        }.joined(separator: " ")
    }
}

/// Numbers as text.
enum Format {
    /// The number with this many digits after the decimal point.
    static func fixed(_ number: Double, digits: Int = 2) -> String {
        var scale = 1
        for _ in 0..<digits { scale *= 10 }
        guard number.isFinite, abs(number) < 1e12 else { return "0" }
        let whole = Int((number * Double(scale)).rounded())
        let rest = String(abs(whole) % scale)
        return
            "\(whole < 0 ? "-" : "")\(abs(whole) / scale).\(String(repeating: "0", count: digits - rest.count))\(rest)"
    }
}

/// A description of the machine.
enum Machine {
    /// Date, processor, number of cores, kernel, and load; the benchmark itself causes a load of two.
    static var line: String {
        func text(_ file: String) -> String {
            (try? Data(contentsOf: URL(filePath: file))).map { String(decoding: $0, as: UTF8.self) } ?? ""
        }
        let processor = text("/proc/cpuinfo").split(separator: "\n").first { $0.hasPrefix("model name") }
        let name = processor?.split(separator: ":").last.map { $0.trimmingPrefix(" ") } ?? "unknown processor"
        let kernel = text("/proc/sys/kernel/osrelease").filter { $0 != "\n" }
        let date = Date().formatted(.iso8601.year().month().day())
        let load = text("/proc/loadavg").split(separator: " ").first ?? "?"
        let cores = sysconf(Int32(_SC_NPROCESSORS_ONLN))
        return "\(date), \(name), \(cores) cores, Linux \(kernel), load average \(load) at the end"
    }
}
