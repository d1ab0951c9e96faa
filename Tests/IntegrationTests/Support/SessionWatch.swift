import CommandSupport
import DatabaseSupport
import EmbeddedPostgres
import Foundation
import Logging
import PostgresClient
import Testing

@testable import Gateway

/// Looks at the sessions of a gateway's own cluster (I4).
struct SessionWatch {
    private let url: String
    private let directory: String
    private let session: PostgresConnection

    /// - Throws: when the cluster does not run.
    init(_ world: World) async throws {
        url = try AttachedCluster(directory: world.material.path("data/postgres")).adminConnectionString
        directory = world.directory
        session = try await PostgresConnection.connect(PostgresConfiguration(url), logger: Logger(label: "sessions"))
    }

    /// The last statements of the sessions that are in an open transaction and run nothing.
    ///
    /// A transaction and its COMMIT are sent in two writes, so that a session is between them for microseconds, or for as long as the gateway's thread has no
    /// core. A look may show such a transaction. One that waits for the answer to a push is shown by every look until that answer.
    func idle() async throws -> [String] {
        let rows = try await session.query(
            """
            SELECT left(query, 200) AS query FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid() AND state LIKE 'idle in transaction%'
            """
        )
        return try rows.map { try $0.text("query") }
    }

    /// The number of written deliveries of a message.
    func written(_ message: String) async throws -> Int {
        let sql = "SELECT count(*) AS number FROM gateway.delivery WHERE message_id = '\(message)' AND state = 'sent'"
        return try await session.query(sql).only().int("number")
    }

    /// Control: opens a transaction, which a look must show.
    func expectToSeeAnOpenTransaction(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let holder = try ChildProcess(
            "psql",
            program: "/usr/bin/psql",
            arguments: ["-X", "-d", url, "-c", "BEGIN", "-c", #"\! sleep 60"#],
            logFile: directory + "/idle.log"
        )
        try await eventually("a look shows an open transaction", sourceLocation: sourceLocation) {
            try await idle().contains { $0.hasPrefix("BEGIN") }
        }
        holder.kill()
    }

    func close() async { await session.close() }
}
