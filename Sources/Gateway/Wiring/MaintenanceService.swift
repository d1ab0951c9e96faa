import Logging
import Postgres
import ServiceLifecycle

/// Makes partitions ahead, drops old ones, sweeps dead nodes: every five minutes, on whichever node gets there first.
struct MaintenanceService: Service {
    static let period = Duration.seconds(300)

    let maintenance: PostgresMaintenance
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    let report = try await maintenance.run()
                    if report.isLeader { logger.debug("maintenance done") }
                } catch {
                    logger.warning("maintenance failed; it is tried again", metadata: [LogKey.error: "\(error)"])
                }
                try? await Task.sleep(for: Self.period)
            }
        }
    }
}
