import AnswerShapes
import GatewayHTTP
import HTTPTypes
import Hummingbird
import Model
import Store

/// The questions whose figures the event reader counts. They may be behind, and each answer says up to when they are counted.
extension AnalyticsOperations {
    /// 1,000 groups of latencies in one answer, each with up to 249 buckets.
    static let latencyLimit = 1000
    /// The groupings of latencies.
    static let latencyGroupings: [FunnelGrouping] = [.app, .vendor]

    /// The members that say what is counted.
    static func head<Value: Sendable>(
        _ range: @escaping @Sendable (Value) -> AnalyticsRange,
        _ span: @escaping @Sendable (Value) -> CountedSpan
    ) -> [AnswerShape<Value>.Member] {
        [
            .time("from", "The first moment that is counted.") { range($0).quarters.start },
            .time("to", "The first moment that is no longer counted.") { range($0).quarters.end },
            .text("zone", "The time zone of days.", example: "Europe/Berlin") { range($0).zone.text },
            .optionalTime("countedFrom", "Events before this time are not counted; null: there were no events.") {
                span($0).since
            },
            .optionalTime("countedUntil", "Every event before this time is counted; null: nothing is counted yet.") {
                span($0).until
            },
        ]
    }

    // MARK: Latency

    struct LatencyInput: FigureFields {
        let from = AnalyticsInputs.from
        let to = AnalyticsInputs.to
        let zone = AnalyticsInputs.zone
        let app = AnalyticsInputs.app
        let vendor = AnalyticsInputs.vendor
        let by = QueryField.optional(
            "by",
            .list(.word(among: latencyGroupings), limit: AnalyticsInputs.groupingLimit),
            default: [],
            "Split the latencies by `app`, `vendor` or both, comma-separated."
        )
        let format = AnalyticsInputs.format
    }

    struct Latencies: Sendable {
        var range: AnalyticsRange
        var span: CountedSpan
        var merged: MergedDays?
        var latencies: [GroupLatencies]
    }

    /// The percentiles of answers.
    static let percentiles: [(name: String, share: Double)] = [
        ("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99),
    ]

    struct Bucket: Sendable {
        var bucket: Int
        var count: Int64
    }

    private static let bucket = AnswerShape<Bucket>(
        "LatencyBucket",
        [
            .int64("from", "The smallest latency of the bucket, in milliseconds.") {
                Int64(LatencyHistogram.start(of: $0.bucket).rounded(.up))
            },
            .int64("to", "The smallest latency above the bucket, in milliseconds.") {
                Int64(LatencyHistogram.end(of: $0.bucket).rounded(.up))
            },
            .int64("count", "The number of deliveries.") { $0.count },
        ]
    )

    private static let latencyShape = AnswerShape<GroupLatencies>(
        "Latency",
        [
            .word(
                "kind",
                among: LatencyKind.allCases.map(\.rawValue),
                LatencyKind.definitions
            ) { $0.kind.rawValue },
            .shape("group", AnalyticsShapes.group, "The properties of the group.") { $0.group },
            .int64("count", "The number of deliveries.") { $0.histogram.count },
            .int64(
                "negative",
                "How many of them had a latency below 0, which counts as 0: the device's clock was wrong."
            ) {
                $0.histogram.negative
            },
        ]
            + percentiles.map { percentile in
                .int64(
                    percentile.name,
                    "The latency that \(Int((percentile.share * 100).rounded())) % do not exceed, within 4.5 %, in milliseconds."
                ) { $0.histogram.percentile(percentile.share) ?? 0 }
            } + [
                .list("histogram", bucket, "The buckets with deliveries, ascending.") { latencies in
                    latencies.histogram.buckets.sorted { $0.key < $1.key }.map {
                        Bucket(bucket: $0.key, count: $0.value)
                    }
                }
            ]
    )

    private static let latencyHead: [AnswerShape<Latencies>.Member] =
        head({ $0.range }, { $0.span }) + AnalyticsShapes.merged { $0.merged }

    static let latencyList = AnswerShape<Latencies>(
        "Latencies",
        latencyHead + [
            .list("latencies", latencyShape, "The latencies by kind and group; those without deliveries are left out.")
            {
                $0.latencies
            }
        ]
    )

    static let latency = NativeOperation(
        "showLatency",
        .get,
        "/v1/analytics/latency",
        scope: .read,
        "Show how long deliveries, receipts and reads took, as percentiles and histograms. The figures may be seconds behind.",
        input: LatencyInput(),
        answers: [
            .json(
                latencyList.schema,
                orCSV: (["kind", "count", "negative"] + percentiles.map(\.name)).joined(separator: ",") + "\r\n",
                "The latencies."
            )
        ],
        NativeAPI.showLatency
    )

    // MARK: Devices

    struct DevicesInput: FigureFields {
        let from = AnalyticsInputs.from
        let to = AnalyticsInputs.to
        let zone = AnalyticsInputs.zone
        let app = AnalyticsInputs.app
        let by = QueryField.optional(
            "by",
            .list(.word(among: [FunnelGrouping.app]), limit: 1),
            default: [],
            "`app`: also show each app."
        )
        let interval = QueryField.optional(
            "interval",
            .word(DayInterval.self),
            "Also show each day, week (from Monday) or month."
        )
        let format = AnalyticsInputs.format
    }

    struct DeviceGroup: Sendable {
        var group: FunnelGroup
        var figures: DeviceFigures
    }

    struct DevicePart: Sendable {
        /// Days since 1970.
        var start: Int32
        var group: FunnelGroup
        var figures: DeviceFigures

        var day: String { Timestamp(seconds: Int64(start) * 86_400).rfc3339Date }
    }

    struct Devices: Sendable {
        var range: AnalyticsRange
        var span: CountedSpan
        var total: DeviceFigures
        var groups: [DeviceGroup]
        var parts: [DevicePart]
    }

    typealias DeviceColumn = (name: String, definition: String, value: @Sendable (DeviceFigures) -> Int64)

    /// The columns of device figures.
    static let deviceColumns: [DeviceColumn] = figureColumns + orphanColumns

    /// The numbers of orphan receipts, one column for each reason of `note_orphan`.
    static let orphanColumns: [DeviceColumn] = [
        ("repeated", "the delivery had had the same receipt, or a later one"),
        ("otherDevice", "the message went to other devices, or its push to this one had not left yet"),
        ("notSent", "the delivery to the device ended without a push, for example in quiet hours"),
        ("unknownMessage", "the gateway does not know the message"),
        ("unknownDevice", "the gateway does not know the device"),
        ("removed", "the message was due on days from which the retention has begun to remove rows"),
    ].map { (reason: String, definition: String) -> DeviceColumn in
        let name = "orphans\(reason.prefix(1).uppercased())\(reason.dropFirst())"
        return (name, "Orphan receipts: \(definition).", { $0.orphans[reason] ?? 0 })
    }

    private static let figureColumns: [DeviceColumn] = [
        (
            "devicesReached", "Distinct devices with a delivery that was accepted or uncertain.",
            { $0.count(.device, .reached) }
        ),
        ("devicesReceived", "Distinct devices whose app reported a receipt.", { $0.count(.device, .received) }),
        ("devicesRead", "Distinct devices whose app reported a read.", { $0.count(.device, .read) }),
        (
            "usersReached", "Distinct users with a delivery that was accepted or uncertain.",
            { $0.count(.user, .reached) }
        ),
        ("usersReceived", "Distinct users with a device whose app reported a receipt.", { $0.count(.user, .received) }),
        ("usersRead", "Distinct users with a device whose app reported a read.", { $0.count(.user, .read) }),
        ("gained", "Registrations of devices that became active, without imports.", { $0.changes.gained }),
        ("lost", "Registrations that ended: unregistered, or replaced by another one.", { $0.changes.lost }),
        (
            "invalidated", "Tokens that the push service reported as dead, as after the app was removed.",
            { $0.changes.invalidated }
        ),
    ]

    private static let figures = AnswerShape<DeviceFigures>(
        "DeviceFigures",
        deviceColumns.map { column in .int64(column.name, column.definition) { column.value($0) } }
    )

    private static let deviceGroup = AnswerShape<DeviceGroup>(
        "DeviceGroup",
        [
            .shape("group", AnalyticsShapes.group, "The app.") { $0.group },
            .shape("figures", figures, "Its figures.") { $0.figures },
        ]
    )

    private static let devicePart = AnswerShape<DevicePart>(
        "DevicePart",
        [
            .text("day", "The first day of the day, week or month.", format: "date", example: "2026-10-25") { $0.day },
            .shape("group", AnalyticsShapes.group, "The app, with `by=app`.") { $0.group },
            .shape("figures", figures, "The figures of the days of the range that belong to it.") { $0.figures },
        ]
    )

    static let deviceList = AnswerShape<Devices>(
        "DeviceAnswer",
        head({ $0.range }, { $0.span }) + [
            .text(
                "firstDay",
                "The first day that is counted, on the clock of each app.",
                format: "date",
                example: "2026-10-25"
            ) {
                Timestamp(seconds: Int64($0.range.days.lowerBound) * 86_400).rfc3339Date
            },
            .text("lastDay", "The last one.", format: "date", example: "2026-10-31") {
                Timestamp(seconds: Int64($0.range.days.upperBound) * 86_400).rfc3339Date
            },
            .shape(
                "total",
                figures,
                "All days and apps. A device or user is counted once. Above 256, distinct numbers are estimates within 5 %."
            ) {
                $0.total
            },
            .list("groups", deviceGroup, "The apps with figures, with `by=app`.") { $0.groups },
            .list("parts", devicePart, "The days, weeks or months with figures, with `interval`.") { $0.parts },
        ]
    )

    static let devices = NativeOperation(
        "showDeviceFigures",
        .get,
        "/v1/analytics/devices",
        scope: .read,
        "Count the distinct devices and users that deliveries reached, the devices gained and lost, and receipts without a delivery, by days of each app's time zone.",
        input: DevicesInput(),
        answers: [
            .json(
                deviceList.schema,
                orCSV: deviceColumns.map(\.name).joined(separator: ",") + "\r\n",
                "The figures."
            )
        ],
        NativeAPI.showDeviceFigures
    )
}
