import ArgumentParser
import CommandSupport
import Foundation
import Model

/// The funnel of all deliveries, through a running gateway's native API.
struct AnalyticsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "analytics",
        abstract: "Show how many deliveries were accepted, received and read, and why the others were not.",
        discussion:
            "Uses /v1/analytics, with the API key from the environment variable PUSH_GATEWAY_KEY. docs/metrics.md defines the numbers.",
        subcommands: [
            FunnelCommand.self, LossesCommand.self, LatencyCommand.self, DeviceFiguresCommand.self,
            VersionsCommand.self, CampaignCountsCommand.self, HoursCommand.self, RecountCommand.self,
        ]
    )

    /// The deliveries to count.
    struct Question: ParsableArguments {
        @Option(help: "Messages due at or after this time (RFC 3339). Default: the beginning of the day six days ago.")
        var from: String?
        @Option(help: "Messages due before this time. Default: the end of today.")
        var to: String?
        @Option(help: "Time zone of days. Default: that of the app, else UTC.") var zone: String?
        @Option(help: "Only this app; may be repeated.") var app: [String] = []
        @Option(help: "Only messages sent through this vendor's API; may be repeated.") var vendor: [String] = []
        @Option(help: "Only devices with this vendor's SDK; may be repeated.") var deviceVendor: [String] = []
        @Option(help: "Split by app, vendor, deviceVendor or transport; may be repeated once.") var by: [String] = []
        @Flag(help: "Print CSV.") var csv = false
        @OptionGroup var api: APIOptions

        /// The path with the query.
        func path(_ path: String, _ more: [(String, String?)] = []) -> String {
            let lists = [("app", app), ("vendor", vendor), ("deviceVendor", deviceVendor), ("by", by)]
            let range = [("from", from), ("to", to), ("zone", zone)]
            return HTTPCaller.path(path, range + HTTPCaller.lists(lists) + [("format", csv ? "csv" : nil)] + more)
        }

        func show(_ command: String, _ path: String, _ text: (JSON) -> String) async throws {
            try await api.show(command, path, isCSV: csv, text)
        }
    }

    struct FunnelCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "funnel",
            abstract: "Show the counts and rates of a range."
        )
        @Flag(help: "Compare with the range of the same length before.") var compare = false
        @OptionGroup var question: Question

        func run() async throws {
            let path = question.path("/v1/analytics/funnel", compare ? [("compare", "previous")] : [])
            try await question.show("analytics funnel", path, FunnelText.text)
        }
    }

    struct LossesCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "losses",
            abstract: "Show the deliveries that did not reach a device, by stage and reason."
        )
        @OptionGroup var question: Question

        func run() async throws {
            let path = question.path("/v1/analytics/losses")
            try await question.show("analytics losses", path, FunnelText.losses)
        }
    }
}

/// Writes answers of `/v1/analytics` for people.
enum FunnelText {
    /// 40 characters for all targets.
    private static let barLength = 40.0
    private static let eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

    static func text(_ answer: JSON) -> String {
        var lines = [heading(answer)]
        if let total = answer["total"] { lines += funnel(total, before: answer["previous"]?["total"]) }
        let previous = answer["previous"]?["groups"]?.array ?? []
        for entry in answer["groups"]?.array ?? [] {
            guard let counts = entry["counts"] else { continue }
            let before = previous.first { $0["group"] == entry["group"] }?["counts"]
            lines += ["", name(entry["group"])] + funnel(counts, before: before)
        }
        return lines.joined(separator: "\n")
    }

    static func losses(_ answer: JSON) -> String {
        let targets = answer["targets"]?.int ?? 0
        let rows = (answer["losses"]?.array ?? []).map { loss -> [String] in
            let count = loss["count"]?.int ?? 0
            let group = name(loss["group"])
            return [
                grouped(count), percent(targets > 0 ? Double(count) / Double(targets) : nil),
                loss["stage"]?.string ?? "", loss["reason"]?.string ?? "–", group == "all" ? "" : group,
            ]
        }
        let header = ["count", "of all", "stage", "reason", ""]
        let end = answer["complete"]?.bool == false ? ["… and smaller ones"] : []
        let none = rows.isEmpty ? ["nothing was lost"] : aligned([header] + rows)
        return ([heading(answer)] + none + end).joined(separator: "\n")
    }

    static func heading(_ answer: JSON) -> String {
        func text(_ name: String) -> String { answer[name]?.string ?? "?" }
        return "\(text("from")) to \(text("to")) (days of \(text("zone")))\n"
    }

    static func name(_ group: JSON?) -> String {
        let parts = (group?.object?.pairs ?? []).map { "\($0.key) \($0.value.string ?? "")" }
        return parts.isEmpty ? "all" : parts.joined(separator: ", ")
    }

    /// The stages in the order of a delivery's life, with their parts indented.
    private static let stages: [(name: String, label: String)] = [
        ("targets", "targets"), ("suppressed", "  suppressed"), ("canceled", "  canceled"), ("expired", "  expired"),
        ("unsendable", "  unsendable"), ("pending", "  pending"), ("sent", "sent"), ("rejected", "  rejected"),
        ("uncertain", "  uncertain"), ("accepted", "  accepted"), ("received", "received"), ("read", "read"),
    ]

    private static func funnel(_ counts: JSON, before: JSON?) -> [String] {
        let targets = counts["targets"]?.int ?? 0
        var rows: [[String]] = []
        for (name, label) in stages {
            let count = counts[name]?.int ?? 0
            let share = targets > 0 ? Double(count) / Double(targets) : 0
            var row = [label, grouped(count), bar(share)]
            if let before { row.append(change(count, before[name]?.int ?? 0)) }
            rows.append(row)
        }
        let rates = (counts["rates"]?.object?.pairs ?? []).map { pair -> String in
            let note = pair.value["smallSample"]?.bool == true ? " (few deliveries)" : ""
            return "\(words(pair.key)) \(percent(pair.value["value"]?.double))\(note)"
        }
        return aligned(rows) + [rates.joined(separator: " · ")]
    }

    /// `readOfReceivedRate` as `read of received`. Each capital begins a word with a space, also the first one.
    static func words(_ name: String) -> String {
        var text = ""
        for character in name.hasSuffix("Rate") ? String(name.dropLast(4)) : name {
            text += character.isUppercase ? " " + character.lowercased() : String(character)
        }
        return text
    }

    private static func bar(_ share: Double) -> String {
        let parts = Int((min(max(share, 0), 1) * barLength * 8).rounded())
        let text = String(repeating: "█", count: parts / 8) + eighths[parts % 8]
        return text.isEmpty && share > 0 ? eighths[1] : text
    }

    private static func change(_ count: Int64, _ before: Int64) -> String {
        guard before > 0 else { return count > 0 ? "new" : "" }
        let change = (Double(count) / Double(before) - 1) * 100
        return (change > 0 ? "+" : "") + String(format: "%.1f %%", change)
    }

    private static func percent(_ value: Double?) -> String {
        value.map { String(format: "%.1f %%", $0 * 100) } ?? "–"
    }

    /// Thousands separated by commas.
    static func grouped(_ value: Int64) -> String {
        var text = ""
        for (place, digit) in String(value).reversed().enumerated() {
            if place > 0, place % 3 == 0, digit != "-" { text.append(",") }
            text.append(digit)
        }
        return String(text.reversed())
    }

    /// Columns; numbers end at the same place.
    static func aligned(_ rows: [[String]]) -> [String] {
        let widths = (0..<(rows.map(\.count).max() ?? 0)).map { column in
            rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                let space = String(repeating: " ", count: widths[column] - cell.count)
                let isNumber = cell.first.map { $0.isNumber || $0 == "+" || $0 == "–" } ?? false
                line += (column > 0 ? "  " : "") + (isNumber ? space + cell : cell + space)
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}
