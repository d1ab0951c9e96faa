package import EngineStore
package import Logging
import Metrics
import Model
import NIOConcurrencyHelpers
import ServiceLifecycle

/// Samples the state of the queue and the database server, and exports it as gauges.
///
/// Every node samples the whole state, so that no value is lost when a node ends: a dashboard takes the maximum over the nodes. The gauges keep their last
/// values while the database does not answer; `database_sample_age_seconds` shows their age.
package final class DatabaseSampler: Service {
    /// 15 s, the default scrape interval of Prometheus: a shorter period adds nothing, a longer one delays alerts.
    package static let period = Duration.seconds(15)
    /// Every twentieth round, five minutes: for values that are expensive to count and change slowly.
    package static let roundsPerStock = 20
    /// 5 s per round: a slower sample is itself a load.
    package static let timeLimit = Duration.seconds(5)

    /// The time of the last sample of each kind; until the first sample, the start time.
    private struct Ages {
        var queue = ContinuousClock.now
        var stock = ContinuousClock.now
    }

    private let store: PostgresStatusStore
    private let logger: Logger
    private let ages = NIOLockedValueBox(Ages())

    package init(store: PostgresStatusStore, logger: Logger) {
        self.store = store
        self.logger = logger
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            var round = 0
            while !Task.isCancelled {
                await self.sample(withStock: round % Self.roundsPerStock == 0)
                round &+= 1
                try? await Task.sleep(for: Self.period)
            }
        }
    }

    /// Runs one round. Failed samples keep their last values.
    package func sample(withStock: Bool) async {
        do throws(StoreError) {
            Self.show(try await store.queueGauges(within: Self.timeLimit))
            ages.withLockedValue { $0.queue = .now }
            if withStock {
                Self.show(try await store.stockGauges(within: Self.timeLimit))
                ages.withLockedValue { $0.stock = .now }
            }
        } catch {
            logger.info("cannot sample the database", metadata: [LogKey.error: "\(error)"])
        }
    }

    /// Sets the age of the samples. Called at each scrape.
    package func showAge() {
        let ages = ages.withLockedValue { $0 }
        MetricName.sampleAge.meter([("sample", "queue")]).set((ContinuousClock.now - ages.queue) / .seconds(1))
        MetricName.sampleAge.meter([("sample", "stock")]).set((ContinuousClock.now - ages.stock) / .seconds(1))
    }

    private static func show(_ gauges: QueueGauges) {
        for lane in Lane.allCases {
            let due = gauges.lanes[lane]
            MetricName.queueAge.meter([("lane", "\(lane)")]).set(due?.oldestSeconds ?? 0)
            MetricName.slicesDue.meter([("lane", "\(lane)")]).set(due?.slices ?? 0)
        }
        for (kind, lag) in [("webhook", gauges.webhooks), ("sender", gauges.senders)] {
            let labels = [("subscriber", kind)]
            MetricName.callbacksLag.meter(labels).set(lag.largestEvents)
            MetricName.callbacksLagSeconds.meter(labels).set(lag.largestSeconds)
            MetricName.callbacksFailing.meter(labels).set(lag.failing)
            MetricName.callbacksFailingSeconds.meter(labels).set(lag.failingSeconds)
        }
        MetricName.callbacksStopped.meter().set(gauges.webhooks.stopped)
        MetricName.readerLag.meter().set(gauges.reading.events)
        MetricName.readerLagSeconds.meter().set(gauges.reading.seconds)
        MetricName.readerLost.meter().set(gauges.reading.lost)
        MetricName.nodesAlive.meter().set(gauges.nodesAlive)
        MetricName.credentialsStopped.meter().set(gauges.credentialsStopped)
        MetricName.oldestTransaction.meter().set(gauges.oldestTransactionSeconds)
        MetricName.xminAge.meter().set(gauges.xminAge)
        MetricName.seesAllSessions.meter().set(gauges.seesAllSessions ? 1 : 0)
    }

    private static func show(_ gauges: StockGauges) {
        MetricName.slicesGivenUp.meter().set(gauges.slicesGivenUp)
        MetricName.defaultPartitionRows.meter().set(gauges.defaultPartitionRows)
        MetricName.partitionWeeksAhead.meter().set(gauges.weeksAhead)
    }
}
