import EngineStore
import Logging
import Observability
import ServiceLifecycle

/// Folds the counts of deliveries every 15 seconds, on one node. Readers add up what is not folded yet, so a longer period makes them slower; a shorter one
/// costs transactions. Once a minute it ends messages that crashed nodes left open.
struct CountService: Service {
    static let period = Duration.seconds(15)
    private static let roundsPerSettling = 4

    let counts: PostgresCountKeeper
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var round = 0
            while !Task.isCancelled {
                do {
                    _ = try await counts.fold()
                    if round % Self.roundsPerSettling == 0, let ended = try await counts.settle(), ended > 0 {
                        logger.debug("ended messages that were left open", metadata: ["messages": "\(ended)"])
                    }
                } catch {
                    logger.warning(
                        "folding counts failed; the next run tries again",
                        metadata: [LogKey.error: "\(error)"]
                    )
                }
                round += 1
                try? await Task.sleep(for: Self.period)
            }
        }
    }
}
