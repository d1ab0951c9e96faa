/// The apps of a tenant whose bindings have the settings that receipts of some dialects need.
package struct ReceiptSettings: Sendable, Hashable {
    /// The dialects that need one.
    package var dialects: [Vendor]
    /// `DIALECT/APP` of the apps that have it.
    package var apps: [String]

    package init(dialects: [Vendor] = [], apps: [String] = []) {
        self.dialects = dialects
        self.apps = apps
    }
}

/// The counts of one part of a range, one group and one dialect of devices.
package struct CountedDeliveries: Sendable, Hashable {
    /// The position of the part, from 0.
    package var part: Int
    /// Without `deviceVendor`.
    package var group: FunnelGroup
    /// `FunnelFilter.unknownDialect`: not known.
    package var deviceVendor: String
    /// False: the app lacks the setting that receipts of this dialect need (`ReceiptSettings`).
    package var isConfigured: Bool
    package var counts: StageCounts

    package init(
        part: Int,
        group: FunnelGroup,
        deviceVendor: String,
        isConfigured: Bool = true,
        counts: StageCounts
    ) {
        self.isConfigured = isConfigured
        self.part = part
        self.group = group
        self.deviceVendor = deviceVendor
        self.counts = counts
    }

    /// Attributes targets to transports. Targets are counted before their transport is known, and outcomes by their transport. So a transport has as many
    /// targets as outcomes, and all others have none.
    ///
    /// - Parameter rows: counts with `transport` in their groups.
    /// - Returns: counts whose targets equal their outcomes and what is pending, in each group.
    package static func byTransport(_ rows: [CountedDeliveries]) -> [CountedDeliveries] {
        var whole: [CountedDeliveries: [CountedDeliveries]] = [:]
        for row in rows {
            var key = row
            key.group.values[.transport] = nil
            key.counts = StageCounts()
            whole[key, default: []].append(row)
        }
        return whole.flatMap { key, rows -> [CountedDeliveries] in
            var rows = rows
            var open = rows.reduce(0) { $0 &+ $1.counts[.targets] }
            let none = FunnelFilter.noTransport
            if !rows.contains(where: { $0.group.values[.transport] == none }) {
                var missing = key
                missing.group.values[.transport] = none
                rows.append(missing)
            }
            for place in rows.indices where rows[place].group.values[.transport] != none {
                let settled = rows[place].counts.sum(FunnelStage.outcomes)
                rows[place].counts[.targets] = settled
                open &-= settled
            }
            for place in rows.indices where rows[place].group.values[.transport] == none {
                rows[place].counts[.targets] = open
            }
            return rows.filter { $0.counts != StageCounts() }
        }
    }
}
