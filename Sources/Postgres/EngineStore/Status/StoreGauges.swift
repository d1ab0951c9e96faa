package import Model
import PostgresClient
import Store

/// The state of the queue and the server over all tenants, as far as it is cheap to sample every few seconds.
package struct QueueGauges: Sendable, Hashable {
    /// The due slices of a lane: ready and waiting, or leased by a node that has been silent for longer than its lease.
    package struct Due: Sendable, Hashable {
        /// At most 1,000 are counted per tenant.
        package var slices: Int
        /// How long the oldest of them has been due.
        package var oldestSeconds: Double
    }

    /// How far subscribers to events are behind.
    package struct Lag: Sendable, Hashable {
        /// The largest number of events that a subscriber has not received. At most 1,000 are counted for a sender.
        package var largestEvents: Int
        /// The age of the oldest event that a subscriber has not received.
        package var largestSeconds: Double
        /// The number of subscribers whose last call failed.
        package var failing: Int
        /// The longest time for which a subscriber has been failing.
        package var failingSeconds: Double
        /// The number of subscribers that were given up and must be enabled again.
        package var stopped: Int
    }

    /// How far the event reader is behind, over all tenants.
    package struct Reading: Sendable, Hashable {
        /// The number of events that are not counted yet.
        package var events: Int
        /// The age of the oldest of them.
        package var seconds: Double
        /// The number of events that retention removed before they were counted.
        package var lost: Int
    }

    /// Lanes without due slices are omitted.
    package var lanes: [Lane: Due]
    package var webhooks: Lag
    package var senders: Lag
    package var reading: Reading
    /// The number of processes whose last heartbeat is younger than 20 s.
    package var nodesAlive: Int
    package var credentialsStopped: Int
    /// The age of the oldest transaction of a client of this database.
    package var oldestTransactionSeconds: Double
    /// The age, in transactions, of the oldest snapshot that vacuum must respect.
    package var xminAge: Int
    /// False: the two values above cover only the gateway's own sessions, because `pg_read_all_stats` is not granted.
    package var seesAllSessions: Bool
}

/// Values that require reading many rows and change slowly.
package struct StockGauges: Sendable, Hashable {
    /// The number of slices that were given up.
    package var slicesGivenUp: Int
    /// Deliveries outside the prepared weeks. More than 0 is an alarm.
    package var defaultPartitionRows: Int
    /// The number of weekly partitions after the current week.
    package var weeksAhead: Int
}

extension PostgresStatusStore {
    /// Samples the queue and the server.
    ///
    /// - Parameter timeout: the time after which the sample is abandoned.
    /// - Returns: a sample.
    /// - Throws: `StoreError`.
    package func queueGauges(within timeout: Duration) async throws(StoreError) -> QueueGauges {
        try await asStore { () throws(PostgresError) in
            // Each statement is a separate transaction, so that none holds the snapshot of the others.
            let statements = [
                GaugeSQL.queue(), GaugeSQL.webhooks(), GaugeSQL.senders(), GaugeSQL.nodes(), GaugeSQL.credentials(),
                GaugeSQL.activity(), EventReaderSQL.lag(),
            ]
            let outcomes = try await engine.run(
                pipeline: statements.map { Transaction(tenant: nil, [$0]) },
                timeout: timeout
            )
            var results: [ResultSet] = []
            for outcome in outcomes { results.append(try outcome.get().result(0)) }
            guard results.count == statements.count else { throw PostgresError(.other, reason: "results are missing") }
            var lanes: [Lane: QueueGauges.Due] = [:]
            for row in results[0] where try row.int("slices") > 0 {
                lanes[try row.lane("lane")] = QueueGauges.Due(
                    slices: try row.int("slices"),
                    oldestSeconds: max(0, try row.double("oldest"))
                )
            }
            let activity = try results[5].only()
            return QueueGauges(
                lanes: lanes,
                webhooks: try Self.lag(try results[1].only()),
                senders: try Self.lag(try results[2].only()),
                reading: try Self.reading(try results[6].only()),
                nodesAlive: try results[3].only().int("nodes"),
                credentialsStopped: try results[4].only().int("stopped"),
                oldestTransactionSeconds: max(0, try activity.double("oldest")),
                xminAge: try activity.int("xmin_age"),
                seesAllSessions: try activity.bool("sees_all")
            )
        }
    }

    /// Samples the values that are expensive to count.
    ///
    /// - Parameter timeout: the time after which each value is abandoned.
    /// - Returns: a sample.
    /// - Throws: `StoreError`.
    package func stockGauges(within timeout: Duration) async throws(StoreError) -> StockGauges {
        try await asStore { () throws(PostgresError) in
            let givenUp = try await engine.run(GaugeSQL.givenUp(), tenant: nil, timeout: timeout)
            let strays = try await engine.run(StatusSQL.strays(), tenant: nil, timeout: timeout)
            let partitions = try await engine.run(StatusSQL.partitions(), tenant: nil, timeout: timeout)
            let names = try partitions.rows { (row) throws(PostgresError) in try row.text("relname") }
            let today = try await engine.run(StatusSQL.now(), tenant: nil, timeout: timeout).only().time("now").day
            let end = DeliveryPartition.endDay(of: names.last) ?? 0
            return StockGauges(
                slicesGivenUp: try givenUp.only().int("slices"),
                defaultPartitionRows: try strays.only().int("rows"),
                weeksAhead: max(0, Int(end) / 7 - Int(today) / 7 - 1)
            )
        }
    }

    private static func reading(_ row: Row) throws(PostgresError) -> QueueGauges.Reading {
        QueueGauges.Reading(
            events: try row.int("events"),
            seconds: max(0, try row.double("seconds")),
            lost: try row.int("lost")
        )
    }

    private static func lag(_ row: Row) throws(PostgresError) -> QueueGauges.Lag {
        QueueGauges.Lag(
            largestEvents: try row.int("lag"),
            largestSeconds: max(0, try row.double("lag_seconds")),
            failing: try row.int("failing"),
            failingSeconds: max(0, try row.double("failing_seconds")),
            stopped: try row.int("stopped")
        )
    }
}
