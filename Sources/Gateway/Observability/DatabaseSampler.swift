package import EngineStore
package import Logging
import Metrics
import Model
import NIOConcurrencyHelpers
import ServiceLifecycle

/// Asks the database how the queue and the server are, and shows it as gauges.
///
/// Every node does, so that any of them tells all of it and none is missed when it ends: a dashboard takes the largest. The gauges keep their last
/// values while the database does not answer; `database_sample_age_seconds` says how old they are.
package final class DatabaseSampler: Service {
    /// 15 s, as often as Prometheus looks by default: more is not seen, less makes alerts late.
    package static let period = Duration.seconds(15)
    /// Every twentieth round, five minutes: what is dear to count and slow to change.
    package static let roundsPerStock = 20
    /// 5 s for a round: a sample that takes longer is itself a load.
    package static let timeLimit = Duration.seconds(5)

    /// When each kind of sample last came; since the start until the first has.
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

    /// One round. What fails keeps its last values.
    package func sample(withStock: Bool) async {
        do throws(StoreError) {
            Self.show(try await store.queueGauges(within: Self.timeLimit))
            ages.withLockedValue { $0.queue = .now }
            if withStock {
                Self.show(try await store.stockGauges(within: Self.timeLimit))
                ages.withLockedValue { $0.stock = .now }
            }
        } catch {
            logger.info("the database's figures cannot be read now", metadata: [LogKey.error: "\(error)"])
        }
    }

    /// Sets how old the samples are. Called when somebody looks.
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
