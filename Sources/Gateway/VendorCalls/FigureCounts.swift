import GatewayHTTP
import Logging
import MigrationStore
import Model
import NIOConcurrencyHelpers
import Observability
import ServiceLifecycle

/// Counts calls for the gates of migrations, and adds its counts to the store once per interval: no call waits for it, and no row is written per call.
final class FigureCounts: Service {
    /// 10,000 counts: six of each app that has an upstream, for each interval that the store has not taken yet. Further ones are only in `parity_total`.
    static let limit = 10_000

    /// The counts that are not stored yet, by the interval in which the calls arrived. Pure.
    struct Tally {
        private struct Key: Hashable {
            var tenant: TenantID
            var app: AppID
            var metric: ParityMetric
            var start: Timestamp
        }

        private let length: Int64
        private var counts: [Key: ParityFigure] = [:]

        init(interval: Duration) { length = max(1, interval.milliseconds) }

        /// `time`: when the call arrived. An observed receipt may be judged seconds after that, when another step of the migration is in force.
        mutating func add(_ figure: ParityFigure, of app: AppID, in tenant: TenantID, at time: Timestamp) {
            // The interval begins before its first call, so that none of them counts for a step that began later.
            let start = Timestamp(milliseconds: time.milliseconds / length * length)
            let key = Key(tenant: tenant, app: app, metric: figure.metric, start: start)
            guard counts[key] != nil || counts.count < FigureCounts.limit else { return }
            var sum = counts[key] ?? ParityFigure(key.metric, samples: 0, differences: 0)
            sum.samples += figure.samples
            sum.differences += figure.differences
            counts[key] = sum
        }

        mutating func take() -> [TenantID: [FigureCount]] {
            var taken: [TenantID: [FigureCount]] = [:]
            for (key, figure) in counts {
                taken[key.tenant, default: []].append(FigureCount(app: key.app, at: key.start, figure: figure))
            }
            counts = [:]
            return taken
        }
    }

    private let store: PostgresMigrationStore
    private let interval: Duration
    private let logger: Logger
    private let tally: NIOLockedValueBox<Tally>

    init(store: PostgresMigrationStore, interval: Duration, logger: Logger) {
        self.store = store
        self.interval = interval
        self.logger = logger
        tally = NIOLockedValueBox(Tally(interval: interval))
    }

    /// Adds observations about a call that arrived at `time`. Never waits.
    func add(_ figure: ParityFigure, of binding: BoundCall, at time: Timestamp) {
        tally.withLockedValue { $0.add(figure, of: binding.app, in: binding.tenant, at: time) }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: self.interval)) != nil { await self.flush() }
        }
        await flush()
    }

    /// Adds the counts to the store. After a failure the next run adds them.
    func flush() async {
        for (tenant, counts) in tally.withLockedValue({ $0.take() }) {
            do throws(StoreError) {
                try await store.add(counts, in: tenant)
            } catch {
                logger.debug("counts of calls are added later", metadata: [LogKey.error: "\(error)"])
                tally.withLockedValue { tally in
                    for count in counts { tally.add(count.figure, of: count.app, in: tenant, at: count.at) }
                }
            }
        }
    }
}
