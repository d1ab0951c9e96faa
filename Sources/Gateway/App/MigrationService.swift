import EngineStore
import Logging
import Metrics
import Migration
import MigrationStore
import Migrations
import Model
import Observability
import ServiceLifecycle
import Store

/// Evaluates the gates of migrations. Any node may do it, and one at a time does for a migration: it takes the row for the time of the lease, and writes a change only if
/// nobody else has changed the migration meanwhile.
struct MigrationService: Service {
    /// A minute: an evaluation takes less than a second, and another node continues a minute after this one has died.
    static let lease = Duration.seconds(60)

    let migrations: MigrationProvisioner
    let node: NodeID
    /// Between two evaluations of a migration.
    let interval: Duration
    let logger: Logger

    /// Four looks per interval, so that an evaluation is late by a quarter of it at most.
    private static let looks = 4

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await self.show()
                for _ in 0..<Self.looks where !Task.isCancelled {
                    await self.look()
                    try? await Task.sleep(for: self.interval / Self.looks)
                }
            }
        }
    }

    /// Evaluates the migrations that are due.
    func look() async {
        do throws(StoreError) {
            for due in try await migrations.store.due() {
                guard let claimed = try await migrations.store.claim(due.id, in: due.tenant, by: node, for: Self.lease)
                else { continue }
                await evaluate(claimed)
                // A change has given it back already.
                try await migrations.store.release(due.id, in: due.tenant, by: node, next: interval)
            }
        } catch {
            // A shutdown cancels the statement in progress.
            if Task.isCancelled { return }
            logger.warning("cannot look for migrations to evaluate", metadata: [LogKey.error: "\(error)"])
        }
    }

    private func evaluate(_ claimed: ClaimedMigration) async {
        let id = claimed.migration.id
        var metadata: Logger.Metadata = [LogKey.tenant: "\(claimed.migration.tenant)", LogKey.migration: "\(id)"]
        do {
            guard let found = try await migrations.evaluate(claimed, interval: interval) else {
                logger.warning("a migration has no upstream; nothing is evaluated", metadata: metadata)
                return
            }
            for result in found.gates where result.verdict.isFailure {
                MetricName.migrationGateFailures.count([("metric", result.gate.metric.rawValue)])
            }
            guard let change = found.change, found.isWritten else { return }
            metadata[LogKey.reason] = "\(change.note)"
            switch change.state.status {
            case .halted, .rolledBack: logger.error("a gate has stopped a migration", metadata: metadata)
            case .planned, .running, .paused, .rolledOut, .completed:
                logger.info("a migration was evaluated", metadata: metadata)
            }
        } catch {
            if Task.isCancelled { return }
            metadata[LogKey.error] = "\(error)"
            logger.warning("a migration cannot be evaluated; the next evaluation tries again", metadata: metadata)
        }
    }

    /// Counts the migrations by status, once per interval: the count reads all of them.
    private func show() async {
        do throws(StoreError) {
            let counts = try await migrations.store.statuses()
            for status in MigrationState.Status.allCases {
                MetricName.migrationsByStatus.meter([("status", status.rawValue)]).set(counts[status.rawValue] ?? 0)
            }
        } catch {
            if Task.isCancelled { return }
            logger.warning("cannot count migrations", metadata: [LogKey.error: "\(error)"])
        }
    }
}
