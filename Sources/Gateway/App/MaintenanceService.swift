import EngineStore
import Logging
import Observability
import ServiceLifecycle

/// Creates and drops partitions and removes expired rows and dead nodes, on one node, the first to start a round. It also makes the planner analyze tables
/// that grow faster than autovacuum analyzes them, folds the counts of deliveries, and ends messages that crashed nodes left open.
struct MaintenanceService: Service {
    /// A minute: so few rows collect in the default partition that moving them takes milliseconds.
    static let partitionPeriod = Duration.seconds(60)
    /// 15 s, while a long transaction prevents a change.
    static let waitingPeriod = Duration.seconds(15)
    static let retentionPeriod = Duration.seconds(300)
    /// Four minutes of five: the next round continues.
    static let retentionTime = Duration.seconds(240)
    /// Five seconds: the first minute of a new gateway may bring a million rows. A check that finds nothing costs a millisecond.
    static let growthPeriod = Duration.seconds(5)
    /// 15 s. Readers add up what is not folded yet, so a longer period makes them slower; a shorter one costs transactions.
    static let foldingPeriod = Duration.seconds(15)
    static let settlingPeriod = Duration.seconds(60)

    let maintenance: PostgresMaintenance
    let counts: PostgresCountKeeper
    let logger: Logger

    func run() async throws {
        let log = MaintenanceLog(logger: logger)
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask {
                    await repeated("changing partitions", orAfter: Self.partitionPeriod) {
                        let started = ContinuousClock.now
                        let report = try await maintenance.changePartitions()
                        log.note(report, of: .partitions, after: .now - started)
                        return report.changesWaiting > 0 ? Self.waitingPeriod : Self.partitionPeriod
                    }
                }
                group.addTask {
                    await repeated("removing expired rows", orAfter: Self.retentionPeriod) {
                        let started = ContinuousClock.now
                        let report = try await maintenance.removeExpired(within: Self.retentionTime)
                        log.note(report, of: .retention, after: .now - started)
                        return report.isComplete ? Self.retentionPeriod : .seconds(1)
                    }
                }
                group.addTask {
                    await repeated("analyzing growing tables", orAfter: Self.growthPeriod) {
                        let count = try await maintenance.analyzeGrown()
                        if count > 0 { logger.info("tables have grown", metadata: ["tables": "\(count)"]) }
                        return Self.growthPeriod
                    }
                }
                group.addTask {
                    await repeated("folding counts", orAfter: Self.foldingPeriod) {
                        _ = try await counts.fold()
                        return Self.foldingPeriod
                    }
                }
                group.addTask {
                    await repeated("ending messages that were left open", orAfter: Self.settlingPeriod) {
                        if let ended = try await counts.settle(), ended > 0 {
                            logger.debug("ended messages that were left open", metadata: ["messages": "\(ended)"])
                        }
                        return Self.settlingPeriod
                    }
                }
            }
        }
    }

    /// Repeats `body`, which returns the time until its next run; after a failure it runs again after `period`.
    private func repeated(
        _ name: String,
        orAfter period: Duration,
        _ body: @Sendable () async throws -> Duration
    ) async {
        while !Task.isCancelled {
            var next = period
            do {
                next = try await body()
            } catch {
                // A shutdown cancels the statement in progress.
                if Task.isCancelled { return }
                logger.warning("\(name) failed; the next run tries again", metadata: [LogKey.error: "\(error)"])
            }
            try? await Task.sleep(for: next)
        }
    }
}
