package import Model

/// The form of an answer.
package enum AnalyticsFormat: String, Sendable, CaseIterable { case json, csv }

/// The range of a question, and the clock of its days.
package struct AnalyticsRange: Sendable {
    package var quarters: QuarterRange
    package var zone: TimeZoneName

    package init(quarters: QuarterRange, zone: TimeZoneName) {
        self.quarters = quarters
        self.zone = zone
    }

    /// The first and the last day of the zone that the range touches. Days since 1970.
    package var days: ClosedRange<Int32> {
        func day(_ time: Timestamp) -> Int32 { (time + .seconds(zone.offset(at: time))).day }
        let first = day(quarters.start)
        return first...max(first, day(quarters.end + .milliseconds(-1)))
    }
}

/// The part of a range of which only days are kept, each in its app's time zone.
package struct MergedDays: Sendable {
    package var until: Timestamp
    /// The zones of the apps, each once.
    package var zones: [String]

    package init(until: Timestamp, zones: [String]) {
        self.until = until
        self.zones = zones
    }
}

/// A question about the funnel: what to count, in which range, and how to split it.
package struct FunnelQuestion: Sendable {
    package var range: QuarterRange
    package var zone: TimeZoneName
    package var filter: FunnelFilter
    package var groupings: Set<FunnelGrouping>
    package var format: AnalyticsFormat
    /// Nil: every quarter hour of the range is counted.
    package var merged: MergedDays?

    package init(
        range: AnalyticsRange,
        filter: FunnelFilter,
        groupings: Set<FunnelGrouping>,
        format: AnalyticsFormat,
        merged: MergedDays?
    ) {
        self.range = range.quarters
        zone = range.zone
        self.filter = filter
        self.groupings = groupings
        self.format = format
        self.merged = merged
    }

    /// The beginning of the local day that is `days` after that of `now`.
    package static func midnight(_ days: Int64, after now: Timestamp, in zone: TimeZoneName) -> Timestamp {
        let day = (now.seconds + zone.offset(at: now)) / 86_400 + days
        let local = day * 86_400
        // The offset at the beginning of the day differs from that of now when the clocks change in between.
        let guess = Timestamp(seconds: local - zone.offset(at: now))
        return Timestamp(seconds: local - zone.offset(at: guess))
    }
}

/// The length of the parts of a series of days. Weeks begin on Monday.
package enum DayInterval: String, Sendable, Hashable, CaseIterable {
    case day, week, month

    /// The first day of the part that contains a day. Days since 1970.
    package func start(of day: Int32) -> Int32 {
        switch self {
        case .day: return day
        case .week:
            // 1970-01-01 was a Thursday.
            let place = (day % 7 + 10) % 7
            return day - place
        case .month:
            let date = Timestamp(seconds: Int64(day) * 86_400).rfc3339Date
            return day - (Int32(date.suffix(2)) ?? 1) + 1
        }
    }
}

extension LatencyKind {
    /// The moments at which a latency begins and ends, for documents and the API's description.
    package var ends: (from: String, to: String) {
        switch self {
        case .delivery:
            (
                "the time at which the push was due for the device",
                "the outcome, for pushes that the gateway itself gave to the push service"
            )
        case .transport: ("the hand-over of the last attempt", "the answer of the push service")
        case .receipt: ("the outcome", "the first report of the app, `received` or `read`")
        case .read: ("the outcome", "the report `read`")
        }
    }

    /// `read`: from … to …
    package var text: String { "`\(rawValue)`: from \(ends.from) to \(ends.to)" }

    package static let definitions = allCases.map(\.text).joined(separator: "; ") + "."
}
