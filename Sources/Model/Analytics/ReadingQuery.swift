/// From when on and up to when the event reader has counted.
package struct CountedSpan: Sendable, Hashable {
    /// Events before this time are not counted. Nil: the tenant has had no events.
    package var since: Timestamp?
    /// Every event before this time is counted. Nil: nothing is counted yet.
    package var until: Timestamp?

    package init(since: Timestamp? = nil, until: Timestamp? = nil) {
        self.since = since
        self.until = until
    }
}

/// Latencies of a group.
package struct GroupLatencies: Sendable, Hashable {
    package var kind: LatencyKind
    /// Only the properties by which the latencies are split.
    package var group: FunnelGroup
    package var histogram: LatencyHistogram

    package init(kind: LatencyKind, group: FunnelGroup, histogram: LatencyHistogram) {
        self.kind = kind
        self.group = group
        self.histogram = histogram
    }
}

/// Distinct devices and users of a range of days, how the number of devices changed, and receipts without a delivery.
package struct DeviceFigures: Sendable, Hashable {
    /// Which distinct values of which deliveries.
    package struct Distinct: Sendable, Hashable {
        package var subject: DistinctSubject
        package var stage: DistinctStage

        package init(_ subject: DistinctSubject, _ stage: DistinctStage) {
            self.subject = subject
            self.stage = stage
        }
    }

    package var sketches: [Distinct: DistinctSketch] = [:]
    package var changes = DeviceChanges()
    /// Receipts that changed no delivery, by reason.
    package var orphans: [String: Int64] = [:]

    package init() {}

    package func count(_ subject: DistinctSubject, _ stage: DistinctStage) -> Int64 {
        sketches[Distinct(subject, stage)]?.estimate ?? 0
    }

    /// A device or user of both is counted once.
    package mutating func merge(_ other: DeviceFigures) {
        for (key, sketch) in other.sketches { sketches[key, default: DistinctSketch()].merge(sketch) }
        changes = changes + other.changes
        orphans.merge(other.orphans) { $0 &+ $1 }
    }
}

/// The figures of an app on one of its days.
package struct DayFigures: Sendable, Hashable {
    package var app: AppID
    /// Days since 1970.
    package var day: Int32
    package var figures: DeviceFigures

    package init(app: AppID, day: Int32, figures: DeviceFigures) {
        self.app = app
        self.day = day
        self.figures = figures
    }
}
