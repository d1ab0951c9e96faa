import EngineStore
import Logging
import Observability
import ServiceLifecycle

/// Creates future partitions, drops old ones and removes dead nodes. Every node starts a run each five minutes; the first one does the work, and the others
/// skip it. The service also analyzes tables that grow faster than autovacuum analyzes them.
struct MaintenanceService: Service {
    static let period = Duration.seconds(300)
    /// Five seconds: the first minute of a new gateway may bring a million rows. A check that finds nothing costs a millisecond.
    static let growthPeriod = Duration.seconds(5)

    let maintenance: PostgresMaintenance
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask {
                    await repeated(every: Self.period, "maintenance") {
                        if try await maintenance.run().isLeader { logger.debug("maintenance done") }
                    }
                }
                group.addTask {
                    await repeated(every: Self.growthPeriod, "analyzing growing tables") {
                        let count = try await maintenance.analyzeGrown()
                        if count > 0 { logger.info("tables have grown", metadata: ["tables": "\(count)"]) }
                    }
                }
            }
        }
    }

    private func repeated(
        every period: Duration,
        _ name: String,
        _ body: @Sendable () async throws -> Void
    ) async {
        while !Task.isCancelled {
            do {
                try await body()
            } catch {
                logger.warning("\(name) failed; the next run tries again", metadata: [LogKey.error: "\(error)"])
            }
            try? await Task.sleep(for: period)
        }
    }
}
