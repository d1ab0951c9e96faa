import EngineStore
import Logging
import Observability
import ServiceLifecycle

/// Makes partitions ahead, drops old ones, sweeps dead nodes: every five minutes, on whichever node gets there first. And has the planner look at tables
/// that grow faster than the database's own upkeep looks.
struct MaintenanceService: Service {
    static let period = Duration.seconds(300)
    /// A new gateway's first minute may bring a million rows. A look that finds nothing costs a millisecond.
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
                    await repeated(every: Self.growthPeriod, "looking at tables that grow") {
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
                logger.warning("\(name) failed; it is tried again", metadata: [LogKey.error: "\(error)"])
            }
            try? await Task.sleep(for: period)
        }
    }
}
