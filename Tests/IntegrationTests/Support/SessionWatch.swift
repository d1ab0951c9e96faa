import CommandSupport
import DatabaseSupport
import EmbeddedPostgres
import Foundation
import Logging
import NIOConcurrencyHelpers
import PostgresClient
import Store
import Testing

@testable import Gateway

/// Samples what the sessions of a gateway's own cluster do (I4).
struct SessionWatch: Sendable {
    /// The result of the samples.
    private struct Seen {
        var samples = 0
        /// The last statements of sessions that were idle in a transaction for too long.
        var idle: Set<String> = []
    }

    private let url: String
    private let directory: String
    private let seen = NIOLockedValueBox(Seen())
    private let task: Task<Void, any Error>

    /// Begins to sample.
    ///
    /// - Parameters:
    ///   - world: owns the cluster.
    ///   - latency: of the push service. A session that holds a transaction while a push is answered is idle for that long; between the statements of a
    ///     transaction it is idle for the time of a round trip.
    /// - Throws: when the cluster does not run.
    init(_ world: World, latency: Duration) throws {
        let url = try AttachedCluster(directory: world.material.path("data/postgres")).adminConnectionString
        let seen = seen
        self.url = url
        directory = world.directory
        task = Task {
            let session = try await PostgresConnection.connect(
                PostgresConfiguration(url),
                logger: Logger(label: "sessions")
            )
            while !Task.isCancelled {
                let rows = try await session.query(Self.idle, [.interval(latency * 0.8)])
                let queries = try rows.map { try $0.text("query") }
                seen.withLockedValue {
                    $0.samples += 1
                    $0.idle.formUnion(queries)
                }
                // The time between two samples.
                try? await Task.sleep(for: .milliseconds(5))
            }
            await session.close()
        }
    }

    private static let idle = """
        SELECT left(query, 200) AS query FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND state LIKE 'idle in transaction%'
            AND clock_timestamp() - state_change > $1::interval
        """

    /// Expects that no sample has shown an open transaction without a statement. Afterwards it opens one, which the samples must show.
    func expectNoneIdleInTransaction(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let found = seen.withLockedValue(\.self)
        #expect(found.idle == [], sourceLocation: sourceLocation)
        #expect(found.samples >= 50, sourceLocation: sourceLocation)
        let holder = try ChildProcess(
            "psql",
            program: "/usr/bin/psql",
            arguments: ["-X", "-d", url, "-c", "BEGIN", "-c", #"\! sleep 60"#],
            logFile: directory + "/idle.log"
        )
        try await eventually("the samples show an open transaction", sourceLocation: sourceLocation) {
            !seen.withLockedValue(\.idle).isEmpty
        }
        holder.kill()
        task.cancel()
        // The end may interrupt a sample.
        do { try await task.value } catch let error as PostgresError where error.code == .cancelled {}
    }
}
