/// A figure that a gate of a migration compares with a limit.
package enum MigrationMetric: String, Sendable, Hashable, CaseIterable {
    /// The share of calls that the gateway understood.
    case observed
    /// The share of calls whose answers agree.
    case responses
    /// The share of devices that differ, by the last comparison with an export.
    case devices
    /// The share of the targets named to the vendor that the gateway could push to.
    case reach
    /// The share of observed messages whose payload the gateway's push service would refuse or shorten.
    case payload
    /// The age of the oldest call that waits for the vendor. Unit: seconds.
    case backlog
    /// The share of pushes of the gateway that the push service rejected, or that the gateway could not make.
    case failures
    /// The 99th percentile of the time of a push of the gateway, from when it was due to the answer of the push service. Unit: seconds.
    case p99
    /// Receipts per accepted push of members, divided by those of all others.
    case receipts
    /// The share of receipts about messages that the gateway does not know.
    case unknown
    /// The number of opt-outs that were imported since the step began.
    case optOuts
    /// The share of sends that would pass the gateway's own proof of the sender.
    case senders

    /// The samples without which a value says nothing: 200 calls, pushes, receipts or devices.
    ///
    /// Two metrics are not drawn from samples, so that one observation is the whole truth: `backlog` is the age of the oldest call in a queue that is read as
    /// a whole, and `optOuts` adds up imports, each of which counted every row of its files.
    package var minimumSamples: Int {
        switch self {
        case .observed, .responses, .devices, .reach, .payload, .failures, .p99, .receipts, .unknown, .senders: 200
        case .backlog, .optOuts: 1
        }
    }

    /// Whether a higher value is better.
    package var wantsMore: Bool {
        switch self {
        case .observed, .responses, .reach, .receipts, .optOuts, .senders: true
        case .devices, .payload, .backlog, .failures, .p99, .unknown: false
        }
    }

    /// Whether the value is a share, which a file may state in per cent.
    package var isShare: Bool {
        switch self {
        case .observed, .responses, .devices, .reach, .payload, .failures, .receipts, .unknown, .senders: true
        case .backlog, .p99, .optOuts: false
        }
    }
}

extension MigrationMetric {
    /// The metrics that can be measured for a vendor.
    ///
    /// - Parameter reportsReceipts: whether receipts of the messages that the vendor sends reach the gateway.
    /// - Returns: the metrics that a gate may have.
    package static func measurable(reportsReceipts: Bool) -> Set<MigrationMetric> {
        Set(allCases.filter { reportsReceipts || $0 != .receipts && $0 != .unknown })
    }
}

/// A condition of a step: a figure and its limit.
package struct MigrationGate: Sendable, Hashable {
    package var metric: MigrationMetric
    /// The smallest or the greatest permitted value, as the metric wants.
    package var limit: Double
    /// At least `MigrationMetric.minimumSamples`.
    package var samples: Int

    package init(_ metric: MigrationMetric, _ limit: Double, samples: Int? = nil) {
        self.metric = metric
        self.limit = limit
        self.samples = max(metric.minimumSamples, samples ?? 0)
    }

    /// The result for a measurement.
    package func verdict(_ measurement: MigrationMeasurement?) -> MigrationVerdict {
        let found = measurement?.samples ?? 0
        guard let measurement, found >= samples, !measurement.value.isNaN else {
            return .missing(max(1, samples - found))
        }
        guard passes(measurement.value) else { return .failed(measurement) }
        if let recent = measurement.recent, isBroken(recent) { return .failedRecently(recent) }
        return .passed(measurement)
    }

    private func passes(_ value: Double) -> Bool { metric.wantsMore ? value >= limit : value <= limit }

    /// Whether the last quarter hours are worse than the limit by more than chance explains. A long step has many quarter hours: without the margin, one of
    /// them would be beyond the limit by chance.
    private func isBroken(_ recent: RecentReading) -> Bool {
        guard recent.samples >= samples else { return false }
        let margin = recent.margin ?? Self.margin(ofShare: limit, samples: recent.samples)
        guard !recent.value.isNaN, !margin.isNaN else { return false }
        return !passes(metric.wantsMore ? recent.value + margin : recent.value - margin)
    }

    /// The deviations of a share that is at its limit, and one sample.
    private static func margin(ofShare limit: Double, samples: Int) -> Double {
        let (share, count) = (min(1, max(0, limit)), Double(max(1, samples)))
        return RecentReading.deviations * (share * (1 - share) / count).squareRoot() + 1 / count
    }
}

/// The value of a figure and the number of observations behind it.
package struct MigrationMeasurement: Sendable, Hashable {
    package var value: Double
    package var samples: Int
    /// The same figure in the last quarter hours of the step. Nil: the step has no earlier part, or the figure is not counted by time.
    package var recent: RecentReading?

    package init(_ value: Double, samples: Int, recent: RecentReading? = nil) {
        self.value = value
        self.samples = samples
        self.recent = recent
    }
}

/// A figure in the last quarter hours of a step. It can fail a gate that the whole step passes, so that a fault is not lost among days of good figures; it
/// never lets a gate pass.
package struct RecentReading: Sendable, Hashable {
    /// Chance alone exceeds four standard deviations in one of 30,000 quarter hours.
    package static let deviations = 4.0

    package var value: Double
    package var samples: Int
    /// The difference from the limit that chance explains. Nil: that of a share, which follows from the limit and the samples.
    package var margin: Double?

    package init(_ value: Double, samples: Int, margin: Double? = nil) {
        self.value = value
        self.samples = samples
        self.margin = margin
    }
}

/// The result of a gate.
package enum MigrationVerdict: Sendable, Hashable {
    case passed(MigrationMeasurement)
    case failed(MigrationMeasurement)
    /// The whole step passes, and its last quarter hours do not.
    case failedRecently(RecentReading)
    /// So many samples are missing: nothing is known, which is not a success.
    case missing(Int)

    package var isFailure: Bool {
        switch self {
        case .failed, .failedRecently: true
        case .passed, .missing: false
        }
    }
}
