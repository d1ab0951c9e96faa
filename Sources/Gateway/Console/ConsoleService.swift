import AccountStore
import Logging
import Model
import Observability
import ServiceLifecycle

/// Removes sessions, links and failures that have ended, and ends the threads of password hashes after the listeners.
package struct ConsoleService: Service {
    /// An hour: what has ended opens nothing in the meantime.
    static let period = Duration.seconds(3600)

    private let store: PostgresAccountStore
    private let work: PasswordWork
    private let logger: Logger

    init(store: PostgresAccountStore, work: PasswordWork, logger: Logger) {
        self.store = store
        self.work = work
        self.logger = logger
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    try await store.sweep()
                } catch {
                    if Task.isCancelled { break }
                    logger.warning(
                        "removing ended sessions failed; the next run tries again",
                        metadata: [LogKey.error: "\(error)"]
                    )
                }
                try? await Task.sleep(for: Self.period)
            }
        }
        await work.close()
    }
}
