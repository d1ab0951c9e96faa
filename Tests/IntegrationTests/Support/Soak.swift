import Foundation

/// What the long runs have in common: sizes from the environment, which `scripts/soak` sets, and a cluster from start to end.
enum Soak {
    /// The size that the environment names; nil: the short run's.
    static func size(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    /// Starts the cluster, runs `body` and ends the cluster, whatever happens.
    ///
    /// - Throws: what `body` throws.
    static func with(_ cluster: Cluster, _ body: (Cluster) async throws -> Void) async throws {
        try await closing {
            await cluster.close()
        } after: {
            try await cluster.start()
            try await body(cluster)
        }
    }
}
