/// The stages of a group of deliveries, and how many of them can be reported.
package struct FunnelCounts: Sendable, Hashable {
    package private(set) var stages = StageCounts()
    /// Accepted and uncertain deliveries to devices that can report receipts, and those of other devices that were received, by a report of the read.
    package private(set) var receivable: Int64 = 0
    /// Accepted and uncertain deliveries to devices that can report reads, and those of other devices that reported a read nevertheless.
    package private(set) var readable: Int64 = 0

    package init() {}

    /// Adds the deliveries to devices of one dialect.
    package mutating func add(_ counts: StageCounts, _ reporting: Reporting) {
        stages = stages + counts
        let delivered = counts.sum([.accepted, .uncertain])
        // A device that cannot report is not silent where it has reported nevertheless: `received` is never above `receivable`.
        receivable &+= reporting.received.canReport ? delivered : counts[.received]
        readable &+= reporting.read.canReport ? delivered : counts[.read]
    }

    package static func + (first: FunnelCounts, second: FunnelCounts) -> FunnelCounts {
        var sum = first
        sum.stages = first.stages + second.stages
        sum.receivable &+= second.receivable
        sum.readable &+= second.readable
        return sum
    }
}
