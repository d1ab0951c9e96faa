import CommandSupport
import Foundation

/// The result of one turn of wrk, with the resource usage of the processes.
struct WrkTurn {
    var perSecond = 0.0
    /// Unit: milliseconds.
    var p50 = 0.0
    var p99 = 0.0
    var requests = 0
    /// CPU time per request, of the gateways and of PostgreSQL. Unit: microseconds.
    var gateway = 0.0
    var postgres = 0.0
}

/// Calls of one kind, whose bodies differ by a number.
struct WrkPost {
    var path: String
    var contentType = "application/json"
    /// A Lua format. Each of its places gets the number.
    var body: String
    /// The numbers start over after this many.
    var numbers = 1 << 30
    /// Is added to each number.
    var offset = 0

    /// The script whose `request` creates the calls, beginning with the number `first`.
    func script(from first: Int) -> String {
        let places = body.components(separatedBy: "%").count - 1
        return """
            local number = \(first - 1)
            local headers = { ["Content-Type"] = "\(contentType)" }
            function request()
              local n = number % \(numbers) + 1 + \(offset)
              number = number + 1
              return wrk.format("POST", "\(path)", headers, string.format('\(body)'\(String(repeating: ", n", count: places))))
            end
            """
    }
}

/// Runs wrk on the core that it shares with PostgreSQL.
struct WrkRun {
    let stage: BenchStage
    let connections: Int
    let core: Int

    /// Pins PostgreSQL with all its processes to the other core. Their later children inherit the setting.
    func pinPostgres() throws {
        let postmaster = try ClusterProcess.postmaster(of: stage.material.path("data/postgres"))
        for process in [postmaster] + ProcessUsage.children(of: postmaster) { try Self.pin(process, to: core) }
    }

    private static func pin(_ process: Int32, to core: Int) throws {
        let taskset = Process()
        taskset.executableURL = URL(fileURLWithPath: "/usr/bin/taskset")
        taskset.arguments = ["-acp", "\(core)", "\(process)"]
        taskset.standardOutput = FileHandle.nullDevice
        taskset.standardError = FileHandle.nullDevice
        try taskset.run()
        taskset.waitUntilExit()
    }

    /// Runs a Lua script whose `request` creates one request after the other.
    ///
    /// - Throws: `StageFailure` when wrk does not run, or when an answer was not 2xx.
    func run(_ script: String, named name: String, at base: String, for seconds: Int) async throws -> WrkTurn {
        let file = stage.material.path("wrk.lua")
        try Data(script.utf8).write(to: URL(fileURLWithPath: file))
        let log = stage.material.path("wrk.log")
        let (gateway, postgres) = (stage.gatewayCPU(), try stage.postgresCPU())
        let wrk = try ChildProcess(
            "wrk",
            program: "/usr/bin/taskset",
            arguments: [
                "-c", "\(core)", "/usr/bin/wrk", "-t1", "-c\(connections)", "-d\(seconds)s", "--timeout", "30s",
                "--latency", "-s", file, base,
            ],
            logFile: log
        )
        while wrk.isRunning { try await Task.sleep(for: .milliseconds(20)) }
        let text = String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self)
        guard await wrk.stop() == 0, let report = WrkReport(text) else { throw StageFailure("wrk: \(text)") }
        guard report.errors == nil else { throw StageFailure("\(name): \(report.errors ?? "")") }
        let count = Double(max(1, report.requests))
        return WrkTurn(
            perSecond: report.perSecond,
            p50: report.p50,
            p99: report.p99,
            requests: report.requests,
            gateway: (stage.gatewayCPU() - gateway) / count * 1e6,
            postgres: (try stage.postgresCPU() - postgres) / count * 1e6
        )
    }
}

/// The output of wrk.
struct WrkReport: Equatable {
    var requests: Int
    var perSecond: Double
    /// Unit: milliseconds.
    var p50: Double
    var p99: Double
    /// The line about answers other than 2xx, or about socket errors.
    var errors: String?

    /// Parses the output of wrk; nil when it is not a report.
    init?(_ text: String) {
        let lines = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        guard let rate = lines.first(where: { $0.hasPrefix("Requests/sec:") })?.split(separator: " ").last,
            let perSecond = Double(rate),
            let total = lines.first(where: { $0.contains(" requests in ") })?.split(separator: " ").first,
            let requests = Int(total),
            let p50 = Self.quantile("50%", in: lines), let p99 = Self.quantile("99%", in: lines)
        else { return nil }
        self.requests = requests
        self.perSecond = perSecond
        self.p50 = p50
        self.p99 = p99
        errors = lines.first { $0.hasPrefix("Non-2xx") || $0.hasPrefix("Socket errors") }
    }

    private static func quantile(_ name: String, in lines: [String]) -> Double? {
        lines.first { $0.hasPrefix(name) }?.split(separator: " ").last.flatMap { milliseconds($0) }
    }

    /// `812.00us`, `1.20ms`, `1.03s`, `1.00m`.
    private static func milliseconds(_ text: Substring) -> Double? {
        for (unit, factor) in [("us", 0.001), ("ms", 1), ("s", 1000), ("m", 60_000)] where text.hasSuffix(unit) {
            return Double(text.dropLast(unit.count)).map { $0 * factor }
        }
        return nil
    }
}
