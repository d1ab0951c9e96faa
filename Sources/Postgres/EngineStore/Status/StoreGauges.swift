package import Model
import PostgresClient
import Store

/// The queue and the server at one moment, over all tenants: what is cheap to ask every few seconds.
package struct QueueGauges: Sendable, Hashable {
    /// What is due in a lane: ready and waiting, or leased by a node that has been silent for longer than its lease.
    package struct Due: Sendable, Hashable {
        /// At most 1,000 are counted per tenant.
        package var slices: Int
        /// How long the oldest of them has been due.
        package var oldestSeconds: Double
    }

    /// How far subscribers to events are behind.
    package struct Lag: Sendable, Hashable {
        /// Events that the one farthest behind was not told of. Of a sender at most 1,000 are counted.
        package var largestEvents: Int
        /// How old the oldest event is that a subscriber was not told of.
        package var largestSeconds: Double
        /// Those whose last call failed.
        package var failing: Int
        /// Since when the one that fails longest fails.
        package var failingSeconds: Double
        /// Those that were given up and must be switched on again.
        package var stopped: Int
    }

    /// Lanes without work are missing.
    package var lanes: [Lane: Due]
    package var webhooks: Lag
    package var senders: Lag
    /// Processes whose last heartbeat is younger than 20 s.
    package var nodesAlive: Int
    package var credentialsStopped: Int
    /// The age of the oldest transaction of a client of this database.
    package var oldestTransactionSeconds: Double
    /// How many transactions ago the oldest snapshot was taken that vacuum must respect.
    package var xminAge: Int
    /// False: the two above know this gateway's own sessions only, for want of `pg_read_all_stats`.
    package var seesAllSessions: Bool
}

/// What takes reading many rows to count, and changes slowly.
package struct StockGauges: Sendable, Hashable {
    /// Slices that gave up and rest.
    package var slicesGivenUp: Int
    /// Deliveries outside the prepared weeks: more than 0 is an alarm.
    package var defaultPartitionRows: Int
    /// Whole weeks of partitions after today's.
    package var weeksAhead: Int
}

extension PostgresStatusStore {
    /// The queue and the server now.
    ///
    /// - Parameter patience: after which the sample is given up.
    /// - Returns: a sample.
    /// - Throws: `StoreError`.
    package func queueGauges(within patience: Duration) async throws(StoreError) -> QueueGauges {
        try await asStore { () throws(PostgresError) in
            // Each a transaction of its own: none holds the others' snapshot.
            let statements = [
                GaugeSQL.queue(), GaugeSQL.webhooks(), GaugeSQL.senders(), GaugeSQL.nodes(), GaugeSQL.credentials(),
                GaugeSQL.activity(),
            ]
            let outcomes = try await engine.run(
                pipeline: statements.map { Transaction(tenant: nil, [$0]) },
                timeout: patience
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
                nodesAlive: try results[3].only().int("nodes"),
                credentialsStopped: try results[4].only().int("stopped"),
                oldestTransactionSeconds: max(0, try activity.double("oldest")),
                xminAge: try activity.int("xmin_age"),
                seesAllSessions: try activity.bool("sees_all")
            )
        }
    }

    /// What is dear to count.
    ///
    /// - Parameter patience: after which each figure is given up.
    /// - Returns: a sample.
    /// - Throws: `StoreError`.
    package func stockGauges(within patience: Duration) async throws(StoreError) -> StockGauges {
        try await asStore { () throws(PostgresError) in
            let givenUp = try await engine.run(GaugeSQL.givenUp(), tenant: nil, timeout: patience)
            let strays = try await engine.run(StatusSQL.strays(), tenant: nil, timeout: patience)
            let partitions = try await engine.run(StatusSQL.partitions(), tenant: nil, timeout: patience)
            let names = try partitions.rows { (row) throws(PostgresError) in try row.text("relname") }
            let today = try await engine.run(StatusSQL.now(), tenant: nil, timeout: patience).only().time("now").day
            let end = DeliveryPartition.endDay(of: names.last) ?? 0
            return StockGauges(
                slicesGivenUp: try givenUp.only().int("slices"),
                defaultPartitionRows: try strays.only().int("rows"),
                weeksAhead: max(0, Int(end) / 7 - Int(today) / 7 - 1)
            )
        }
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
