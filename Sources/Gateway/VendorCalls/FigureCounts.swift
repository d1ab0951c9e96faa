import GatewayHTTP
import Logging
import MigrationStore
import Model
import NIOConcurrencyHelpers
import Observability
import ServiceLifecycle

/// Counts calls for the gates of migrations, and adds its counts to the store once per interval: no call waits for it, and no row is written per call.
final class FigureCounts: Service {
    /// 10,000 counts: three of each app that has an upstream. Further apps are not counted, which holds their migrations.
    static let limit = 10_000

    private struct Key: Hashable {
        var tenant: TenantID
        var app: AppID
        var figure: ObservedFigure
    }

    private struct State {
        var counts: [Key: CountedShare] = [:]
        /// Since when the calls of `counts` were counted.
        var since: Timestamp

        mutating func add(_ key: Key, _ share: CountedShare) {
            guard counts[key] != nil || counts.count < FigureCounts.limit else { return }
            var sum = counts[key] ?? CountedShare(samples: 0, hits: 0)
            sum.samples += share.samples
            sum.hits += share.hits
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

    /// Counts one call. Never waits.
    func note(_ figure: ObservedFigure, isHit: Bool, of binding: BoundCall) {
        let key = Key(tenant: binding.tenant, app: binding.app, figure: figure)
        state.withLockedValue { $0.add(key, CountedShare(samples: 1, hits: isHit ? 1 : 0)) }
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
        var byTenant: [TenantID: [(key: Key, share: CountedShare)]] = [:]
        for (key, share) in taken.counts { byTenant[key.tenant, default: []].append((key: key, share: share)) }
        for (tenant, entries) in byTenant {
            let counts = entries.map { entry in
                FigureCount(
                    app: entry.key.app,
                    figure: entry.key.figure,
                    at: start,
                    samples: Int64(entry.share.samples),
                    hits: Int64(entry.share.hits)
                )
            }
            do throws(StoreError) {
                try await store.add(counts, in: tenant)
            } catch {
                logger.debug("counts of calls are added later", metadata: [LogKey.error: "\(error)"])
                state.withLockedValue { state in
                    state.since = min(state.since, taken.since)
                    for entry in entries { state.add(entry.key, entry.share) }
                }
            }
        }
    }
}
