import Model
import PostgresClient
import Store

/// A table whose partitions maintenance creates ahead and drops.
struct PartitionedTable: Sendable {
    /// The number of days of one partition.
    var days: Int32
    /// The number of partitions after the current one.
    var ahead: any KeyPath<RetentionPolicy, Int> & Sendable
    /// How long a tenant keeps its rows.
    var kept: any KeyPath<RetentionPolicy, Duration> & Sendable
    /// Creates the partition that begins on a day, and returns 0 if it exists.
    var make: @Sendable (_ day: Int32) -> Statement
    /// Drops partitions that end before a day, and returns 0 when there are none.
    var drop: @Sendable (_ day: Int32, _ policies: [RetentionPolicy], _ now: Timestamp) -> Statement
    /// Notes for a tenant, before partitions are dropped, the first day that stays; nil: nothing is noted.
    var note: (@Sendable (_ tenant: TenantID, _ day: Int32) -> Statement)?
    /// The weeks of the rows in the default partition, which have no partition yet; nil: rows stay there.
    var defaultWeeks: (@Sendable () -> Statement)?

    static let all = [deliveries, events]

    static let deliveries = PartitionedTable(
        days: 7,
        ahead: \.weeksAhead,
        kept: \.deliveries,
        make: { MaintenanceSQL.makePartitions(.int32($0), .int32(1)) },
        drop: { day, _, _ in MaintenanceSQL.dropPartitions(.int32(day)) },
        note: { MaintenanceSQL.keepDays(.id($0), .int32($1)) },
        defaultWeeks: { MaintenanceSQL.defaultWeeks() }
    )

    static let events = PartitionedTable(
        days: 1,
        ahead: \.eventDaysAhead,
        kept: \.events,
        make: { MaintenanceSQL.makeEventPartitions(.int32($0), .int32(1)) },
        drop: { day, policies, now in
            let pending = policies.map { now.back(max($0.events, $0.untoldEvents)).day }.min() ?? day
            return MaintenanceSQL.dropEventPartitions(.int32(day), .int32(pending))
        },
        note: nil,
        defaultWeeks: nil
    )
}
