import Adapters
import AnswerShapes
import Foundation
import Model
import Testing

@testable import NativeHTTP

/// docs/metrics.md and the catalog of metrics are the same, and the numbers follow from each other.
struct MetricsDocumentTests {
    /// The folder of the repository.
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func document() throws -> String {
        try String(contentsOf: Self.root.appending(path: "docs/metrics.md"), encoding: .utf8)
    }

    /// The rows of the table with these titles.
    private func table(_ titles: String) throws -> [String] {
        let lines = try document().split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let start = try #require(lines.firstIndex(of: titles), "no table \(titles)")
        return Array(lines[(start + 2)...].prefix { $0.hasPrefix("|") })
    }

    @Test func theDocumentListsEveryCount() throws {
        let rows = FunnelMetric.allCases.map { "| `\($0.rawValue)` | \($0.source.rawValue) | \($0.definition) |" }
        #expect(try table("| count | source | definition |") == rows)
    }

    @Test func theDocumentListsEveryRate() throws {
        let rows = FunnelRate.allCases.map {
            "| `\($0.rawValue)` | `\($0.numerator.rawValue)` | `\($0.denominator.rawValue)` |"
        }
        #expect(try table("| rate | numerator | denominator |") == rows)
    }

    @Test func theDocumentListsWhatEachSDKReports() throws {
        func text(_ ability: Reporting.Ability) -> String {
            if case .configured(let setting) = ability { "configured: `\(setting)`" } else { ability.word }
        }
        let rows = VendorCatalog.product.adapters.sorted { $0.vendor.rawValue < $1.vendor.rawValue }.map {
            "| `\($0.vendor)` | \(text($0.reports.received)) | \(text($0.reports.read)) |"
        }
        #expect(try table("| vendor | received | read |") == rows)
    }

    // The API's description of a latency and the document have the same words.
    @Test func theDocumentAndTheAPIDescribeEveryLatency() throws {
        let rows = LatencyKind.allCases.map { "| `\($0.rawValue)` | \($0.ends.from) | \($0.ends.to) |" }
        #expect(try table("| latency | from | to |") == rows)
        let shape = AnalyticsOperations.latencyList.schema.components["Latency"]
        let text = try #require(shape?["properties"]?["kind"]?["description"]?.string)
        for kind in LatencyKind.allCases { #expect(text.contains(kind.text), "\(kind.rawValue)") }
    }

    // The reasons are those of the routine, and each has a column of its own.
    @Test func theDocumentListsEveryReasonOfOrphanReceipts() throws {
        let columns = AnalyticsOperations.orphanColumns
        #expect(try table("| column | definition |") == columns.map { "| `\($0.name)` | \($0.definition) |" })
        let file = Self.root.appending(path: "Sources/Postgres/Schema/routines/note_orphan.sql")
        let routine = try String(contentsOf: file, encoding: .utf8)
        let listed = routine.matches(of: /(?m)^--   ([A-Za-z]+)\b/).map { String($0.1) }
        let reasons = listed + routine.matches(of: /v_reason := '([A-Za-z]+)'/).map { String($0.1) }
        #expect(reasons.count == columns.count)
        for (place, reason) in reasons.enumerated() {
            var figures = DeviceFigures()
            figures.orphans[reason] = Int64(place + 1)
            #expect(columns.map { $0.value(figures) }.filter { $0 > 0 } == [Int64(place + 1)], "\(reason)")
        }
    }

    @Test func thePathsAreThoseOfTheAPI() throws {
        let paths = try table("| path | answer |").map { String($0.split(separator: "`")[1]) }
        #expect(paths == AnalyticsOperations.all.map(\.path))
    }

    private static let commonInputs = ["from", "to", "zone", "format"]
    private static let filters = ["app", "vendor", "deviceVendor", "transport"]

    private static func list(_ words: [String]) -> String { words.map { "`\($0)`" }.joined(separator: ", ") }

    private static func choices(_ schema: JSON?) -> String {
        list((schema?["enum"]?.array ?? []).compactMap(\.string))
    }

    /// The row of a question, of its declared inputs.
    private static func row(_ operation: NativeOperation) -> String {
        var (chosen, by, further, names): ([String], String, [String], Set<String>) = ([], "", [], [])
        for input in operation.inputs {
            let schema = JSON.object(input.schema.json)
            names.insert(input.name)
            if filters.contains(input.name) {
                chosen.append(input.name)
                #expect(schema["maxItems"] == 20)
            } else if input.name == "by" {
                by = "up to \(schema["maxItems"]?.int ?? 0) of \(choices(schema["items"]))"
            } else if !commonInputs.contains(input.name) {
                further.append("`\(input.name)`: \(choices(schema))")
            }
        }
        let path = operation.path.split(separator: "/").last ?? ""
        #expect(path == "vendors" || names.isSuperset(of: commonInputs))
        let cells = [list(chosen), by, further.joined(separator: "; ")].map { $0.isEmpty ? "–" : $0 }
        return "| `\(path)` | \(cells.joined(separator: " | ")) |"
    }

    @Test func theDocumentListsTheInputsOfEachQuestion() throws {
        let rows = AnalyticsOperations.all.map(Self.row)
        #expect(try table("| question | filters | `by` | further |") == rows)
    }

    /// The words in a cell that are code, and their parts: `dest.tg` has two.
    private static func words(_ cell: String) -> [String] {
        let pieces = cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
        return pieces.filter { $0.offset % 2 == 1 }.flatMap { $0.element.split(separator: ".") }.map(String.init)
    }

    /// The text of all files of a folder of the sources.
    private static func code(_ folder: String) throws -> String {
        let sources = root.appending(path: "Sources/\(folder)")
        let names = try FileManager.default.subpathsOfDirectory(atPath: sources.path).filter { $0.hasSuffix(".swift") }
        return try names.map { try String(contentsOf: sources.appending(path: $0), encoding: .utf8) }.joined()
    }

    // Each word of a vendor is in the code of its adapter, and what an SDK never reports is marked.
    @Test func theTermsOfVendorsAreThoseOfTheirAdapters() throws {
        let columns: [(folder: String, vendor: Vendor?)] = [
            ("APNs", nil), ("Adapters/UPMC", .upmc), ("Adapters/IPNS", .ipns), ("Adapters/RationalOwl", .rationalOwl),
            ("Adapters/Braze", .braze), ("Adapters/NotificationHubs", .notificationHubs), ("Model", .native),
        ]
        let codes = try columns.map { try Self.code($0.folder) }
        let rows = try table("| gateway | APNs | UPMC | iPNS | RationalOwl | Braze | Notification Hubs | native |")
        for row in rows {
            let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            try #require(cells.count == columns.count + 1, "\(row)")
            let metric = try #require(Self.words(cells[0]).first.flatMap { FunnelMetric(rawValue: $0) }, "\(row)")
            for (place, column) in columns.enumerated() {
                let cell = cells[place + 1]
                for word in Self.words(cell) {
                    // A short word is the name of a member.
                    #expect(codes[place].contains(word.count > 3 ? word : "\"\(word)\""), "\(column.folder): \(word)")
                }
                guard let vendor = column.vendor, metric == .received || metric == .read else { continue }
                let reports = VendorCatalog.product.reporting(of: vendor.rawValue)
                let ability = metric == .read ? reports.read : reports.received
                #expect((cell == "not reported") == (ability == .never), "\(vendor) \(metric.rawValue)")
            }
        }
        #expect(rows.count == 10)
    }

    // A different number in each stage; the expected ones are computed by hand from the definitions.
    @Test func everyCountIsThatOfItsDefinition() {
        var counts = FunnelCounts()
        counts.add(
            StageCounts([
                .targets: 1000, .suppressed: 1, .canceled: 2, .expired: 40, .expiredTried: 8, .unsendable: 16,
                .accepted: 320, .uncertain: 64, .rejected: 128, .received: 300, .read: 200, .observedSent: 50,
                .observedAccepted: 45,
            ]),
            Reporting(received: .reported, read: .never)
        )
        let expected: [FunnelMetric: Int64] = [
            .targets: 1000, .suppressed: 1, .canceled: 2, .expired: 40, .expiredTried: 8, .unsendable: 16,
            .pending: 429, .sent: 520, .accepted: 320, .uncertain: 64, .rejected: 128, .receivable: 384,
            .received: 300, .readable: 200, .read: 200, .ownSent: 470, .ownAccepted: 275,
        ]
        for metric in FunnelMetric.allCases {
            #expect(metric.value(of: counts) == expected[metric], "\(metric.rawValue)")
        }
        let outcomes: [FunnelMetric] = [
            .suppressed, .canceled, .expired, .unsendable, .rejected, .accepted, .uncertain, .pending,
        ]
        #expect(outcomes.reduce(0) { $0 + (expected[$1] ?? 0) } == expected[.targets])
    }

    // The bounds hold for devices that cannot report, and for those that report reads only.
    @Test(arguments: [
        (Reporting(received: .never, read: .never), Int64(3), Int64(2)),
        (Reporting(received: .configured(setting: "receivedEvents"), read: .reported).withoutSetting, 3, 10),
        (Reporting(received: .configured(setting: "receivedEvents"), read: .reported), 10, 10),
        (VendorCatalog.product.reporting(of: FunnelFilter.unknownDialect), 3, 2),
    ])
    func aDeviceThatCannotReportIsLeftOutUnlessItHasReported(
        _ reporting: Reporting,
        _ receivable: Int64,
        _ readable: Int64
    ) {
        var counts = FunnelCounts()
        counts.add(StageCounts([.targets: 10, .accepted: 8, .uncertain: 2, .received: 3, .read: 2]), reporting)
        #expect(counts.receivable == receivable && counts.readable == readable)
    }

    @Test func aRateWithoutADenominatorIsNull() {
        var counts = FunnelCounts()
        #expect(FunnelRate.allCases.allSatisfy { $0.value(of: counts) == nil && $0.isSmall(counts) })
        let stages: [FunnelStage: Int64] = [.targets: 200, .accepted: 100, .rejected: 50]
        counts.add(StageCounts(stages), Reporting(received: .never, read: .never))
        #expect(FunnelRate.sentRate.value(of: counts) == 0.75 && !FunnelRate.sentRate.isSmall(counts))
        #expect(FunnelRate.receiptRate.value(of: counts) == nil)
    }

    // The vendor's own pushes are counted, and are left out of the rate of what the gateway sent.
    @Test func observedPushesAreNotInTheAcceptanceRate() {
        var counts = FunnelCounts()
        let stages: [FunnelStage: Int64] = [
            .targets: 1000, .accepted: 860, .uncertain: 10, .rejected: 50, .observedSent: 800, .observedAccepted: 770,
        ]
        counts.add(StageCounts(stages), Reporting(received: .reported, read: .reported))
        #expect(FunnelMetric.sent.value(of: counts) == 920 && FunnelMetric.accepted.value(of: counts) == 860)
        #expect(FunnelMetric.ownSent.value(of: counts) == 120 && FunnelMetric.ownAccepted.value(of: counts) == 90)
        #expect(FunnelRate.acceptanceRate.value(of: counts) == 0.75 && !FunnelRate.acceptanceRate.isSmall(counts))
        #expect(FunnelRate.sentRate.value(of: counts) == 0.92)
    }

    // Days of 23 and 25 hours, and a zone with three quarters of an hour.
    @Test(arguments: [
        ("2026-03-29T12:00:00Z", "Europe/Berlin", "2026-03-28T23:00:00.000Z", "2026-03-29T22:00:00.000Z"),
        ("2026-10-25T12:00:00Z", "Europe/Berlin", "2026-10-24T22:00:00.000Z", "2026-10-25T23:00:00.000Z"),
        ("2026-11-26T20:00:00Z", "Asia/Kathmandu", "2026-11-26T18:15:00.000Z", "2026-11-27T18:15:00.000Z"),
        ("2026-11-26T02:00:00Z", "America/Los_Angeles", "2026-11-25T08:00:00.000Z", "2026-11-26T08:00:00.000Z"),
    ])
    func theDefaultRangeConsistsOfLocalDays(_ now: String, _ zone: String, _ start: String, _ end: String) throws {
        let (now, zone) = (try #require(Timestamp(rfc3339: now)), try #require(TimeZoneName(zone)))
        #expect(FunnelQuestion.midnight(0, after: now, in: zone).rfc3339 == start)
        #expect(FunnelQuestion.midnight(1, after: now, in: zone).rfc3339 == end)
    }
}
