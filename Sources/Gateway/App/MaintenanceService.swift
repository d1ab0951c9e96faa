import EngineStore
import Logging
import Metrics
import Model
import Observability
import ServiceLifecycle

/// Creates and drops partitions and removes expired rows and dead nodes, on one node, the first to start a round. It also makes the planner analyze tables
/// that grow faster than autovacuum analyzes them, folds, merges and recounts the counts of deliveries, and ends messages that crashed nodes left open.
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
    /// An hour: one more day becomes due in a day.
    static let mergingPeriod = Duration.seconds(3600)
    /// Ten minutes, to find the beginning of the night.
    static let recountPeriod = Duration.seconds(600)
    /// Longer than the night: a node recounts once in it.
    static let recountRest = Duration.seconds(4 * 3600)

    let maintenance: PostgresMaintenance
    let counts: PostgresCountKeeper
    let recount: PostgresNightlyRecount
    let clock: any WallClock
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
                    await repeated("merging counts into days", orAfter: Self.mergingPeriod) {
                        _ = try await counts.rollUp(at: clock.now())
                        return Self.mergingPeriod
                    }
                }
                group.addTask {
                    await repeated("recounting a day", orAfter: Self.recountPeriod) {
                        let night = try await recount.run(at: clock.now())
                        if let drift = night.drift { MetricName.countsDrift.meter().set(Double(drift)) }
                        guard let findings = night.findings else { return Self.recountPeriod }
                        note(findings)
                        return Self.recountRest
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

    private func note(_ findings: [PostgresNightlyRecount.Finding]) {
        for finding in findings {
            var metadata: Logger.Metadata = [
                LogKey.tenant: "\(finding.tenant)",
                "day": "\(Timestamp(seconds: Int64(finding.day) * 86_400).rfc3339Date)",
            ]
            if let error = finding.error {
                metadata[LogKey.error] = "\(error)"
                logger.warning("a day could not be recounted; another night tries again", metadata: metadata)
            } else if !finding.differences.isEmpty {
                metadata["differences"] = "\(finding.differences.count)"
                logger.error("counts differed from the deliveries; they are corrected", metadata: metadata)
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
