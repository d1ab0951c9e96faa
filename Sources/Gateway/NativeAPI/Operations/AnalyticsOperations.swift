import Adapters
import AnswerShapes
import GatewayHTTP
import HTTPTypes
import Hummingbird
import Model
import Store

/// `/v1/analytics`: the funnel of all deliveries, exact at every moment. docs/metrics.md defines the numbers.
enum AnalyticsOperations {
    static let all = [
        funnel, timeseries, losses, latency, devices, versions, campaigns, hours, vendors,
    ]

    /// 2,000 parts of a series: quarter hours of 20 days, hours of 83 days.
    static let partLimit = 2000
    /// 20,000 points in one answer: about 10 MB.
    static let pointLimit = 20_000
    /// 1,000 losses, the largest first.
    static let lossLimit = 1000

    // MARK: Funnel

    enum Comparison: String, Sendable, CaseIterable { case previous }

    struct FunnelInput: AnalyticsFields {
        let from = AnalyticsInputs.from
        let to = AnalyticsInputs.to
        let zone = AnalyticsInputs.zone
        let app = AnalyticsInputs.app
        let vendor = AnalyticsInputs.vendor
        let deviceVendor = AnalyticsInputs.deviceVendor
        let transport = AnalyticsInputs.transport
        let by = AnalyticsInputs.by
        let compare = QueryField.optional(
            "compare",
            .word(Comparison.self),
            "`previous`: also count the range of the same length before."
        )
        let format = AnalyticsInputs.format
    }

    /// The counts of one range.
    struct Counted: Sendable {
        var question: FunnelQuestion
        var total: FunnelCounts
        var splits: [AnalyticsShapes.Split]
        var previous: Previous?
    }

    struct Previous: Sendable {
        var range: QuarterRange
        var total: FunnelCounts
        var splits: [AnalyticsShapes.Split]
    }

    private static let previous = AnswerShape<Previous>(
        "PreviousFunnel",
        [
            .time("from", "The first moment that is counted.") { $0.range.start },
            .time("to", "The first moment that is no longer counted.") { $0.range.end },
            .shape("total", AnalyticsShapes.counts, "All deliveries.") { $0.total },
            .list("groups", AnalyticsShapes.split, "The groups, with `by`.") { $0.splits },
        ]
    )

    static let counted = AnswerShape<Counted>(
        "FunnelAnswer",
        AnalyticsShapes.head { $0.question } + [
            .shape("total", AnalyticsShapes.counts, "All deliveries.") { $0.total },
            .list("groups", AnalyticsShapes.split, "The groups, with `by`.") { $0.splits },
            .optionalShape("previous", previous, "The range before, with `compare=previous`.") { $0.previous },
        ]
    )

    static let funnel = NativeOperation(
        "showFunnel",
        .get,
        "/v1/analytics/funnel",
        scope: .read,
        "Count deliveries by stage, in total and by group.",
        input: FunnelInput(),
        answers: [.json(counted.schema, orCSV: AnalyticsShapes.example(["from", "to"]), "The counts.")],
        NativeAPI.showFunnel
    )

    // MARK: Time series

    struct SeriesInput: AnalyticsFields {
        let from = AnalyticsInputs.from
        let to = AnalyticsInputs.to
        let zone = AnalyticsInputs.zone
        let interval = QueryField.optional(
            "interval",
            .word(FunnelInterval.self),
            default: .day,
            as: .string(FunnelInterval.day.rawValue),
            "The length of the parts, on the clock of the zone. A series has at most \(partLimit) parts."
        )
        let app = AnalyticsInputs.app
        let vendor = AnalyticsInputs.vendor
        let deviceVendor = AnalyticsInputs.deviceVendor
        let transport = AnalyticsInputs.transport
        let by = AnalyticsInputs.by
        let format = AnalyticsInputs.format
    }

    struct Point: Sendable {
        var part: FunnelPart
        var counts: FunnelCounts
    }

    struct Line: Sendable {
        var group: FunnelGroup
        var points: [Point]
    }

    struct Series: Sendable {
        var question: FunnelQuestion
        var interval: FunnelInterval
        var lines: [Line]
    }

    private static let point = AnswerShape<Point>(
        "FunnelPoint",
        [
            .time("start", "When the part begins.") { $0.part.range.start },
            .text("day", "The day of the zone on which it begins.", format: "date", example: "2026-10-25") {
                $0.part.day
            },
            .shape("counts", AnalyticsShapes.counts, "Deliveries of messages due in the part.") { $0.counts },
        ]
    )

    private static let line = AnswerShape<Line>(
        "FunnelLine",
        [
            .shape("group", AnalyticsShapes.group, "The properties of the group.") { $0.group },
            .list("points", point, "One point for each part, also for those without deliveries.") { $0.points },
        ]
    )

    static let series = AnswerShape<Series>(
        "FunnelSeries",
        AnalyticsShapes.head { $0.question } + [
            .word("interval", "The length of the parts.") { $0.interval },
            .list("series", line, "One series for each group with deliveries; without `by`, one.") { $0.lines },
        ]
    )

    static let timeseries = NativeOperation(
        "showTimeseries",
        .get,
        "/v1/analytics/timeseries",
        scope: .read,
        "Count deliveries by stage, for each quarter hour, hour, day, week or month in which messages were due.",
        input: SeriesInput(),
        answers: [.json(series.schema, orCSV: AnalyticsShapes.example(["start", "day"]), "The series.")],
        NativeAPI.showTimeseries
    )

    // MARK: Losses

    struct LossesInput: AnalyticsFields {
        let from = AnalyticsInputs.from
        let to = AnalyticsInputs.to
        let zone = AnalyticsInputs.zone
        let app = AnalyticsInputs.app
        let vendor = AnalyticsInputs.vendor
        let deviceVendor = AnalyticsInputs.deviceVendor
        let transport = AnalyticsInputs.transport
        let by = AnalyticsInputs.by
        let format = AnalyticsInputs.format
    }

    struct Losses: Sendable {
        var question: FunnelQuestion
        var targets: Int64
        var losses: [FunnelLoss]
        var isWhole: Bool
    }

    /// The stages in which deliveries are lost.
    static let lossStages: [FunnelStage] = [.suppressed, .canceled, .expired, .unsendable, .rejected]

    private static let loss = AnswerShape<FunnelLoss>(
        "FunnelLoss",
        [
            .word("stage", among: lossStages.map(\.rawValue), "The stage in which they were lost.") {
                $0.stage.rawValue
            },
            .optionalText("reason", "The reason; null: the stage itself is the reason.", example: "noDevice") {
                $0.reason.isEmpty ? nil : $0.reason
            },
            .shape("group", AnalyticsShapes.group, "The properties of the group.") { $0.group },
            .int64("count", "The number of deliveries.") { $0.count },
        ]
    )

    static let lossList = AnswerShape<Losses>(
        "FunnelLosses",
        AnalyticsShapes.head { $0.question } + [
            .int64("targets", "All deliveries, lost or not.") { $0.targets },
            .list("losses", loss, "The losses, the largest first; at most \(lossLimit).") { $0.losses },
            .flag("complete", "False: there are more losses than the answer lists.") { $0.isWhole },
        ]
    )

    static let losses = NativeOperation(
        "showLosses",
        .get,
        "/v1/analytics/losses",
        scope: .read,
        "Count the deliveries that did not reach a device, by stage and reason.",
        input: LossesInput(),
        answers: [
            .json(lossList.schema, orCSV: "stage,reason,count\r\nsuppressed,noDevice,3\r\n", "The losses.")
        ],
        NativeAPI.showLosses
    )

    // MARK: Vendors

    private static let reports = AnswerShape<Reporting>(
        "Reporting",
        [
            .word("received", among: Reporting.Ability.words, "Whether the SDK reports receipts.") {
                $0.received.word
            },
            .word("read", among: Reporting.Ability.words, "Whether the SDK reports reads.") { $0.read.word },
        ]
    )

    private static let vendor = AnswerShape<any VendorAdapter>(
        "ReportingVendor",
        [
            .text("vendor", "The vendor's name.", example: "upmc") { $0.vendor.rawValue },
            .shape("reports", reports, "The reports that its SDK can make about a push.") { $0.reports },
        ]
    )

    static let vendors = NativeOperation(
        "showVendors",
        .get,
        "/v1/analytics/vendors",
        scope: .read,
        "Show what the SDK of each vendor can report. Devices that cannot report are left out of the rates of receipts and reads.",
        input: NoInput(),
        answers: [
            .json(
                JSONSchema.object([("vendors", .list(of: vendor.schema), true)]).named("ReportingVendors"),
                "The vendors."
            )
        ],
        NativeAPI.showVendors
    )

    static func vendorList(_ adapters: [any VendorAdapter]) -> JSON {
        ["vendors": .array(adapters.sorted { $0.vendor.rawValue < $1.vendor.rawValue }.map { vendor.json($0) })]
    }
}
