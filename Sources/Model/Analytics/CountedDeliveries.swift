/// The counts of one part of a range, one group and one dialect of devices.
package struct CountedDeliveries: Sendable, Hashable {
    /// The position of the part, from 0.
    package var part: Int
    /// Without `deviceVendor`.
    package var group: FunnelGroup
    /// `FunnelFilter.unknownDialect`: not known.
    package var deviceVendor: String
    package var counts: StageCounts

    package init(part: Int, group: FunnelGroup, deviceVendor: String, counts: StageCounts) {
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
        struct Key: Hashable {
            var part: Int
            var group: FunnelGroup
            var deviceVendor: String
        }
        var whole: [Key: [CountedDeliveries]] = [:]
        for row in rows {
            var group = row.group
            group.values[.transport] = nil
            whole[Key(part: row.part, group: group, deviceVendor: row.deviceVendor), default: []].append(row)
        }
        return whole.flatMap { key, rows -> [CountedDeliveries] in
            var rows = rows
            var open = rows.reduce(0) { $0 &+ $1.counts[.targets] }
            let none = FunnelFilter.noTransport
            if !rows.contains(where: { $0.group.values[.transport] == none }) {
                var group = key.group
                group.values[.transport] = none
                rows.append(Self(part: key.part, group: group, deviceVendor: key.deviceVendor, counts: StageCounts()))
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
