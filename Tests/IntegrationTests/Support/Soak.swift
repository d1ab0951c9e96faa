import Foundation

/// The common parts of the long runs: sizes from the environment, which `scripts/soak` sets, and a cluster from start
/// to end.
enum Soak {
    /// The size in the environment variable; nil: the size of the short run.
    static func size(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    /// Starts the cluster, runs `body` and ends the cluster in any case.
    ///
    /// - Throws: the error of `body`.
    static func with(_ cluster: Cluster, _ body: (Cluster) async throws -> Void) async throws {
        try await closing {
            await cluster.close()
        } after: {
            try await cluster.start()
            try await body(cluster)
        }
    }
}
