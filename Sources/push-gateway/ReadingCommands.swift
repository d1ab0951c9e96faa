import ArgumentParser
import CommandSupport
import Foundation
import Model

/// The range and the apps of figures that the event reader counts.
struct FigureRange: ParsableArguments {
    @Option(help: "From this time on (RFC 3339). Default: the beginning of the day six days ago.") var from: String?
    @Option(help: "Before this time. Default: the end of today.") var to: String?
    @Option(help: "Time zone of days. Default: that of the app, else UTC.") var zone: String?
    @Option(help: "Only this app; may be repeated.") var app: [String] = []
    @Flag(help: "Print CSV.") var csv = false
    @OptionGroup var api: APIOptions

    func show(
        _ command: String,
        _ path: String,
        _ lists: [(String, [String])],
        _ text: (JSON) -> String
    ) async throws {
        let query = [("from", from), ("to", to), ("zone", zone)] + HTTPCaller.lists([("app", app)] + lists)
        let path = HTTPCaller.path(path, query + [("format", csv ? "csv" : nil)])
        try await api.show(command, path, isCSV: csv, text)
    }
}

/// `analytics latency`.
struct LatencyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latency",
        abstract: "Show how long deliveries, receipts and reads took."
    )
    @Option(help: "Only messages sent through this vendor's API; may be repeated.") var vendor: [String] = []
    @Option(help: "Split by app or vendor; may be repeated once.") var by: [String] = []
    @OptionGroup var range: FigureRange

    func run() async throws {
        let lists = [("vendor", vendor), ("by", by)]
        try await range.show("analytics latency", "/v1/analytics/latency", lists, ReadingText.latency)
    }
}

/// `analytics devices`.
struct DeviceFiguresCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "Show the distinct devices and users reached, the devices gained and lost, and orphan receipts."
    )
    @Option(help: "Also show each day, week or month.") var interval: String?
    @Flag(help: "Also show each app.") var byApp = false
    @OptionGroup var range: FigureRange

    func run() async throws {
        let lists = [("interval", interval.map { [$0] } ?? []), ("by", byApp ? ["app"] : [])]
        try await range.show("analytics devices", "/v1/analytics/devices", lists, ReadingText.devices)
    }
}

/// `analytics versions`.
struct VersionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "versions",
        abstract: "Show the deliveries reached, received and read by what the SDKs of the devices had reported."
    )
    @Option(
        help: "Split by appVersion, os, osVersion, sdkVersion, model or locale; may be repeated. Default: appVersion."
    )
    var by: [String] = []
    @OptionGroup var range: FigureRange

    func run() async throws {
        try await range.show("analytics versions", "/v1/analytics/versions", [("by", by)], ReadingText.counts)
    }
}

/// `analytics campaigns`.
struct CampaignCountsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "campaigns",
        abstract: "Show the deliveries reached, received and read by campaign and variant."
    )
    @OptionGroup var range: FigureRange

    func run() async throws {
        try await range.show("analytics campaigns", "/v1/analytics/campaigns", [], ReadingText.counts)
    }
}

/// `analytics hours`.
struct HoursCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hours",
        abstract: "Show the deliveries reached, received and read by the hour of the week, in the devices' time zones."
    )
    @OptionGroup var range: FigureRange

    func run() async throws {
        try await range.show("analytics hours", "/v1/analytics/hours", [], ReadingText.hours)
    }
}

/// Writes answers about latencies and devices for people.
enum ReadingText {
    static func latency(_ answer: JSON) -> String {
        let names = ["p50", "p90", "p95", "p99"]
        let rows = (answer["latencies"]?.array ?? []).map { line -> [String] in
            let group = FunnelText.name(line["group"])
            return [line["kind"]?.string ?? "", FunnelText.grouped(line["count"]?.int ?? 0)]
                + names.map { duration(line[$0]?.int ?? 0) } + [group == "all" ? "" : group]
        }
        let table =
            rows.isEmpty ? ["nothing was counted"] : FunnelText.aligned([["latency", "count"] + names + [""]] + rows)
        return ([heading(answer)] + table).joined(separator: "\n")
    }

    static func devices(_ answer: JSON) -> String {
        var rows = [["", "devices", "received", "read", "users", "received", "read", "gained", "lost", "invalidated"]]
        func add(_ name: String, _ figures: JSON?) {
            let columns = [
                "devicesReached", "devicesReceived", "devicesRead", "usersReached", "usersReceived", "usersRead",
                "gained", "lost", "invalidated",
            ]
            rows.append([name] + columns.map { FunnelText.grouped(figures?[$0]?.int ?? 0) })
        }
        for part in answer["parts"]?.array ?? [] {
            let group = FunnelText.name(part["group"])
            add("from \(part["day"]?.string ?? "")" + (group == "all" ? "" : " \(group)"), part["figures"])
        }
        for entry in answer["groups"]?.array ?? [] { add(FunnelText.name(entry["group"]), entry["figures"]) }
        add("all", answer["total"])
        return ([heading(answer)] + FunnelText.aligned(rows) + orphans(answer["total"])).joined(separator: "\n")
    }

    /// `orphan receipts: repeated 12, other device 3`. Nothing if there are none.
    private static func orphans(_ figures: JSON?) -> [String] {
        let prefix = "orphans"
        let reasons = (figures?.object?.pairs ?? []).compactMap { pair -> String? in
            guard pair.key.hasPrefix(prefix), let count = pair.value.int, count > 0 else { return nil }
            return "\(FunnelText.words(String(pair.key.dropFirst(prefix.count)))) \(FunnelText.grouped(count))"
        }
        return reasons.isEmpty ? [] : ["", "orphan receipts:" + reasons.joined(separator: ",")]
    }

    private static let countNames = ["reached", "received", "read"]

    /// Counts by any properties.
    static func counts(_ answer: JSON) -> String {
        let groups = answer["groups"]?.array ?? []
        let names = groups.first?["group"]?.object?.pairs.map(\.key) ?? []
        let rows = groups.map { group in
            names.map { group["group"]?[$0]?.string ?? "–" }
                + countNames.map { FunnelText.grouped(group[$0]?.int ?? 0) }
        }
        let table = rows.isEmpty ? "nothing was counted" : Console.table(names + countNames, rows)
        return "\(heading(answer))\n\(table)"
    }

    /// Counts by the hour of the week, in the order of hours.
    static func hours(_ answer: JSON) -> String {
        let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
        let groups = (answer["groups"]?.array ?? []).compactMap { group -> (hour: Int, counts: JSON)? in
            guard let hour = group["group"]?["hour"]?.string.flatMap({ Int($0) }), (0..<168).contains(hour) else {
                return nil
            }
            return (hour, group)
        }.sorted { $0.hour < $1.hour }
        let rows = groups.map { group in
            [days[group.hour / 24], String(format: "%02d:00", group.hour % 24)]
                + countNames.map { FunnelText.grouped(group.counts[$0]?.int ?? 0) }
        }
        let table = rows.isEmpty ? "nothing was counted" : Console.table(["day", "hour"] + countNames, rows)
        return "\(heading(answer))\n\(table)"
    }

    /// The range, and up to when it is counted.
    private static func heading(_ answer: JSON) -> String {
        let until = answer["countedUntil"]?.string.map { "counted until \($0)" } ?? "nothing is counted yet"
        return "\(FunnelText.heading(answer))\(until)\n"
    }

    /// `340 ms`, `2.5 s`, `3 min`, `2.0 h`.
    static func duration(_ milliseconds: Int64) -> String {
        let seconds = Double(milliseconds) / 1000
        switch milliseconds {
        case ..<1000: return "\(milliseconds) ms"
        case ..<60_000: return String(format: "%.1f s", seconds)
        case ..<3_600_000: return String(format: "%.0f min", seconds / 60)
        default: return String(format: "%.1f h", seconds / 3600)
        }
    }
}
