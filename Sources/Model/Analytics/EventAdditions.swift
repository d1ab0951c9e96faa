/// A latency of deliveries, with the two moments between which it is measured.
package enum LatencyKind: String, Sendable, Hashable, CaseIterable {
    /// From the time at which the push was due for the device to the outcome.
    case delivery
    /// From the hand-over of the last attempt to the answer of the transport.
    case transport
    /// From the outcome to the receipt.
    case receipt
    /// From the outcome to the read.
    case read
}

/// The kind of values of which distinct ones are counted.
package enum DistinctSubject: String, Sendable, Hashable, CaseIterable { case device, user }

/// The stage of the deliveries whose devices and users are counted.
package enum DistinctStage: String, Sendable, Hashable, CaseIterable {
    /// Accepted by the transport, or uncertain.
    case reached
    case received
    case read
}

/// Identities that began and ended, and tokens that became invalid.
package struct DeviceChanges: Sendable, Hashable {
    package var gained: Int64
    package var lost: Int64
    package var invalidated: Int64

    package init(gained: Int64 = 0, lost: Int64 = 0, invalidated: Int64 = 0) {
        self.gained = gained
        self.lost = lost
        self.invalidated = invalidated
    }

    package static func + (first: DeviceChanges, second: DeviceChanges) -> DeviceChanges {
        DeviceChanges(
            gained: first.gained &+ second.gained,
            lost: first.lost &+ second.lost,
            invalidated: first.invalidated &+ second.invalidated
        )
    }
}

/// The figures that a step of the event reader adds to the stored ones.
package struct EventAdditions: Sendable, Hashable {
    package struct LatencyKey: Sendable, Hashable {
        /// The quarter hour in which the message was due.
        package var quarter: Int32
        package var app: AppID
        package var vendor: Vendor
        package var kind: LatencyKind

        package init(quarter: Int32, app: AppID, vendor: Vendor, kind: LatencyKind) {
            self.quarter = quarter
            self.app = app
            self.vendor = vendor
            self.kind = kind
        }
    }

    /// A day of the app's time zone, since 1970.
    package struct DayKey: Sendable, Hashable {
        package var day: Int32
        package var app: AppID

        package init(day: Int32, app: AppID) {
            self.day = day
            self.app = app
        }
    }

    package struct SketchKey: Sendable, Hashable {
        /// The day on which the message was due.
        package var day: DayKey
        package var subject: DistinctSubject
        package var stage: DistinctStage

        package init(day: DayKey, subject: DistinctSubject, stage: DistinctStage) {
            self.day = day
            self.subject = subject
            self.stage = stage
        }
    }

    package var latencies: [LatencyKey: LatencyHistogram] = [:]
    package var sketches: [SketchKey: DistinctSketch] = [:]
    package var changes: [DayKey: DeviceChanges] = [:]
    package var counts: [PropertyKey: ReachCounts] = [:]
    /// The new marks of deliveries; nil: the mark is removed.
    package var marks: [LoggedDelivery.Key: ReceiptMark?] = [:]

    package init() {}
}

/// The receipts of a delivery that arrived before its outcome or contradict it, which its events alone do not show. Few deliveries have a mark.
package struct ReceiptMark: Sendable, Hashable {
    /// Whether the outcome has not been counted yet. Its receipts are then counted with it.
    package var isEarly: Bool
    /// Whether a receipt was counted, or waits for the outcome.
    package var isReceived: Bool
    /// The same for a read.
    package var isRead: Bool

    package init(isEarly: Bool, isReceived: Bool = false, isRead: Bool = false) {
        self.isEarly = isEarly
        self.isReceived = isReceived
        self.isRead = isRead
    }
}
