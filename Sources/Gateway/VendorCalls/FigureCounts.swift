import GatewayHTTP
import Logging
import MigrationStore
import Model
import NIOConcurrencyHelpers
import Observability
import ServiceLifecycle

/// Counts calls for the gates of migrations, and adds its counts to the store once per interval: no call waits for it, and no row is written per call.
final class FigureCounts: Service {
    /// 10,000 counts: six of each app that has an upstream. Further apps are not counted, which holds their migrations.
    static let limit = 10_000

    private struct Key: Hashable {
        var tenant: TenantID
        var app: AppID
        var metric: ParityMetric
    }

    private struct State {
        var counts: [Key: ParityFigure] = [:]
        /// Since when the calls of `counts` were counted.
        var since: Timestamp

        mutating func add(_ key: Key, _ figure: ParityFigure) {
            guard counts[key] != nil || counts.count < FigureCounts.limit else { return }
            var sum = counts[key] ?? ParityFigure(key.metric, samples: 0, differences: 0)
            sum.samples += figure.samples
            sum.differences += figure.differences
            counts[key] = sum
        }
    }

    private let store: PostgresMigrationStore
    private let interval: Duration
    private let clock: any WallClock
    private let logger: Logger
    private let state: NIOLockedValueBox<State>

    init(store: PostgresMigrationStore, interval: Duration, clock: any WallClock, logger: Logger) {
        self.store = store
        self.interval = interval
        self.clock = clock
        self.logger = logger
        state = NIOLockedValueBox(State(since: clock.now()))
    }

    /// Adds observations about a call. Never waits.
    func add(_ figure: ParityFigure, of binding: BoundCall) {
        let key = Key(tenant: binding.tenant, app: binding.app, metric: figure.metric)
        state.withLockedValue { $0.add(key, figure) }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: self.interval)) != nil { await self.flush() }
        }
        await flush()
    }

    /// Adds the counts to the store. After a failure the next run adds them.
    func flush() async {
        let now = clock.now()
        let taken = state.withLockedValue { state in
            let taken = state
            state = State(since: now)
            return taken
        }
        guard !taken.counts.isEmpty else { return }
        let length = max(1, interval.milliseconds)
        // The interval begins before its first call, so that none of them counts for a step that began later.
        let start = Timestamp(milliseconds: taken.since.milliseconds / length * length)
        var byTenant: [TenantID: [(key: Key, figure: ParityFigure)]] = [:]
        for (key, figure) in taken.counts { byTenant[key.tenant, default: []].append((key: key, figure: figure)) }
        for (tenant, entries) in byTenant {
            let counts = entries.map { entry in
                FigureCount(app: entry.key.app, at: start, figure: entry.figure)
            }
            do throws(StoreError) {
                try await store.add(counts, in: tenant)
            } catch {
                logger.debug("counts of calls are added later", metadata: [LogKey.error: "\(error)"])
                state.withLockedValue { state in
                    state.since = min(state.since, taken.since)
                    for entry in entries { state.add(entry.key, entry.figure) }
                }
            }
        }
    }
}
