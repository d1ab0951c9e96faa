/// Which deliveries a question about the funnel counts. An empty list matches everything.
package struct FunnelFilter: Sendable, Hashable {
    package var apps: [AppID]
    /// The dialects through which messages were sent.
    package var vendors: [Vendor]
    /// The dialects of the devices, or `unknownDialect`.
    package var deviceVendors: [String]
    /// Transports, or `noTransport` for deliveries without one.
    package var transports: [String]

    /// Apple's push service.
    package static let appleTransport = "apns"
    /// The transport of deliveries that none was used for: suppressed or still pending, for example.
    package static let noTransport = "none"
    /// The beginning of the transport of pushes that a vendor sent by itself, before its name.
    package static let observedPrefix = "observed:"
    /// The dialect of devices that is not known.
    package static let unknownDialect = "unknown"

    package init(apps: [AppID] = [], vendors: [Vendor] = [], deviceVendors: [String] = [], transports: [String] = []) {
        self.apps = apps
        self.vendors = vendors
        self.deviceVendors = deviceVendors
        self.transports = transports
    }
}

/// A property by which counts are split.
package enum FunnelGrouping: String, Sendable, Hashable, CaseIterable { case app, vendor, deviceVendor, transport }

/// The values of a group. A property by which the counts are not split is missing.
package struct FunnelGroup: Sendable, Hashable, Comparable {
    package var values: [FunnelGrouping: String]

    package init(_ values: [FunnelGrouping: String] = [:]) { self.values = values }

    package static func < (first: FunnelGroup, second: FunnelGroup) -> Bool {
        for grouping in FunnelGrouping.allCases {
            let (one, other) = (first.values[grouping] ?? "", second.values[grouping] ?? "")
            if one != other { return one < other }
        }
        return false
    }
}

/// A range of quarter hours since 1970, in which messages are due.
package struct QuarterRange: Sendable, Hashable {
    /// 15 minutes. Unit: seconds.
    package static let seconds: Int64 = 900

    package var from: Int32
    /// Excluded.
    package var to: Int32

    package init(from: Int32, to: Int32) {
        self.from = from
        self.to = to
    }

    /// The quarter hours that the range touches.
    package init(_ range: Range<Timestamp>) {
        from = Int32(clamping: range.lowerBound.seconds / Self.seconds)
        let (whole, rest) = range.upperBound.milliseconds.quotientAndRemainder(dividingBy: Self.seconds * 1000)
        to = Int32(clamping: rest > 0 ? whole + 1 : whole)
    }

    package var start: Timestamp { Timestamp(seconds: Int64(from) * Self.seconds) }
    package var end: Timestamp { Timestamp(seconds: Int64(to) * Self.seconds) }

    /// The range of the same length before this one.
    package var previous: QuarterRange { QuarterRange(from: from &- (to &- from), to: from) }
}

/// The length of the parts of a series, on the clock of a time zone.
package enum FunnelInterval: String, Sendable, Hashable, CaseIterable { case quarterHour, hour, day, week, month }

/// One part of a series.
package struct FunnelPart: Sendable, Hashable {
    package var range: QuarterRange
    /// The day in the zone on which it begins, `2026-10-25`.
    package var day: String

    package init(range: QuarterRange, day: String) {
        self.range = range
        self.day = day
    }
}

/// The number of deliveries that were lost in a stage for a reason.
package struct FunnelLoss: Sendable, Hashable {
    package var stage: FunnelStage
    /// '': the outcome itself is the reason.
    package var reason: String
    package var group: FunnelGroup
    package var count: Int64

    package init(stage: FunnelStage, reason: String, group: FunnelGroup, count: Int64) {
        self.stage = stage
        self.reason = reason
        self.group = group
        self.count = count
    }
}
