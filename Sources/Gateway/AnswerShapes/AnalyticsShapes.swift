package import Model

/// The JSON and CSV forms of counts. The metrics and rates of the catalog (`FunnelMetric`, `FunnelRate`) are their members and columns.
package enum AnalyticsShapes {
    private struct Rate: Sendable {
        var rate: FunnelRate
        var counts: FunnelCounts
    }

    private static let rate = AnswerShape<Rate>(
        "FunnelRate",
        [
            .optionalNumber("value", "From 0 to 1; null: there is nothing to divide by.") {
                $0.rate.value(of: $0.counts)
            },
            .int64("numerator", "The number that is divided.") { $0.rate.numerator.value(of: $0.counts) },
            .int64("denominator", "The number by which it is divided.") { $0.rate.denominator.value(of: $0.counts) },
            .flag("smallSample", "Whether the denominator is below \(FunnelRate.smallSample).") {
                $0.rate.isSmall($0.counts)
            },
        ]
    )

    private static let rates = AnswerShape<FunnelCounts>(
        "FunnelRates",
        FunnelRate.allCases.map { name in
            .shape(name.rawValue, rate, "`\(name.numerator.rawValue)` ÷ `\(name.denominator.rawValue)`.") {
                Rate(rate: name, counts: $0)
            }
        }
    )

    package static let counts = AnswerShape<FunnelCounts>(
        "FunnelCounts",
        FunnelMetric.allCases.map { metric in .int64(metric.rawValue, metric.definition) { metric.value(of: $0) } }
            + [.shape("rates", rates, "Quotients of the counts.") { $0 }]
    )

    package static let group = AnswerShape<FunnelGroup>(
        "FunnelGroup",
        FunnelGrouping.allCases.map { grouping in
            .init(
                grouping.rawValue,
                JSONSchema.text(example: grouping == .app ? "shop" : "native").described(description(grouping)),
                isRequired: false
            ) { $0.values[grouping].map { .string($0) } }
        }
    )

    private static func description(_ grouping: FunnelGrouping) -> String {
        switch grouping {
        case .app: "The app; absent unless the counts are split by it."
        case .vendor: "The vendor through whose API the messages were sent; absent unless the counts are split by it."
        case .deviceVendor:
            "The vendor of the devices' SDK, `\(FunnelFilter.unknownDialect)` if it is not known; absent unless the counts are split by it."
        case .transport:
            "The transport: `\(FunnelFilter.appleTransport)`, `\(CredentialID.upstreamPrefix)CREDENTIAL`, `\(FunnelFilter.observedPrefix)VENDOR`, or `\(FunnelFilter.noTransport)` if none was used; absent unless the counts are split by it."
        }
    }

    package struct Split: Sendable {
        package var group: FunnelGroup
        package var counts: FunnelCounts

        package init(group: FunnelGroup, counts: FunnelCounts) {
            self.group = group
            self.counts = counts
        }
    }

    package static let split = AnswerShape<Split>(
        "FunnelSplit",
        [
            .shape("group", group, "The properties of the group.") { $0.group },
            .shape("counts", counts, "Its counts.") { $0.counts },
        ]
    )

    /// The members of every answer that say what was counted.
    package static func head<Value: Sendable>(
        _ question: @escaping @Sendable (Value) -> FunnelQuestion
    ) -> [AnswerShape<Value>.Member] {
        [
            .time("from", "The first moment that is counted.") { question($0).range.start },
            .time("to", "The first moment that is no longer counted.") { question($0).range.end },
            .text("zone", "The time zone of days.", example: "Europe/Berlin") { question($0).zone.text },
        ] + merged { question($0).merged }
    }

    /// The members that say which part of the range is kept by day.
    package static func merged<Value: Sendable>(
        _ days: @escaping @Sendable (Value) -> MergedDays?
    ) -> [AnswerShape<Value>.Member] {
        [
            .optionalTime(
                "daysOnlyUntil",
                "Before this time, figures are kept by day of their app's time zone; null: none of this answer are."
            ) { days($0)?.until },
            .texts(
                "daysOnlyZones",
                "The time zones of these days: those of the apps that are counted; empty: there are none.",
                example: "Europe/Berlin"
            ) { days($0)?.zones ?? [] },
        ]
    }

    // MARK: CSV

    /// The zone, the merged days and the counted time of an answer, as headers of a table, which has no other place for them.
    package static func notes(
        _ zone: TimeZoneName,
        _ merged: MergedDays? = nil,
        _ span: CountedSpan = CountedSpan()
    ) -> [String: String] {
        var notes = ["X-Zone": zone.text]
        notes["X-Days-Only-Until"] = merged?.until.rfc3339
        notes["X-Days-Only-Zones"] = merged?.zones.joined(separator: ", ")
        notes["X-Counted-From"] = span.since?.rfc3339
        notes["X-Counted-Until"] = span.until?.rfc3339
        return notes
    }

    /// The names of the columns of counts.
    package static let columns = FunnelMetric.allCases.map(\.rawValue) + FunnelRate.allCases.map(\.rawValue)

    /// The line of names of an answer, as an example.
    package static func example(_ first: [String]) -> String { (first + columns).joined(separator: ",") + "\r\n" }

    package static func cells(_ counts: FunnelCounts) -> [String] {
        FunnelMetric.allCases.map { "\($0.value(of: counts))" }
            + FunnelRate.allCases.map { rate in rate.value(of: counts).map { "\($0)" } ?? "" }
    }

    package static func cells(_ group: FunnelGroup, _ groupings: Set<FunnelGrouping>) -> [String] {
        ordered(groupings).map { group.values[$0] ?? "" }
    }

    package static func ordered(_ groupings: Set<FunnelGrouping>) -> [FunnelGrouping] {
        FunnelGrouping.allCases.filter(groupings.contains)
    }

}
