import EngineStore
import Logging
import Model
import Observability
import ServiceLifecycle

/// Counts the events of all tenants for analytics, while no delivery waits (`EventReaderMachine`).
struct EventReaderService: Service {
    /// A look that failed is repeated after this time.
    static let failurePeriod = Duration.seconds(5)

    let reader: PostgresEventReader
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var machine = EventReaderMachine()
            while !Task.isCancelled {
                do throws(StoreError) {
                    let work = try await reader.look()
                    switch machine.looked(work.tenants, areSlicesWaiting: work.areSlicesWaiting, at: .now) {
                    case .wait(let time): try? await Task.sleep(for: time)
                    case .step(let tenant): machine.stepped(tenant, await step(tenant), at: .now)
                    }
                } catch {
                    // A shutdown cancels the statement in progress.
                    if Task.isCancelled { return }
                    logger.warning("cannot look for events to count", metadata: [LogKey.error: "\(error)"])
                    try? await Task.sleep(for: Self.failurePeriod)
                }
            }
        }
    }

    private func step(_ tenant: TenantID) async -> EventReaderMachine.Outcome {
        do throws(StoreError) {
            guard let progress = try await reader.step(tenant) else { return .taken }
            MetricName.readerSteps.count([])
            if progress.lost > 0 {
                logger.warning(
                    "events were removed before they were counted",
                    metadata: [LogKey.tenant: "\(tenant)", LogKey.count: "\(progress.lost)"]
                )
            }
            return .counted
        } catch {
            if !Task.isCancelled {
                logger.warning(
                    "counting events failed; the next try is in \(EventReaderMachine.restPeriod)",
                    metadata: [LogKey.tenant: "\(tenant)", LogKey.error: "\(error)"]
                )
            }
            return .failed
        }
    }
}
