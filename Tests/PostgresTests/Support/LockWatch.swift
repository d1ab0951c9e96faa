import DatabaseSupport
import Synchronization
import Testing

@testable import PostgresClient

/// Tells a task that runs during a test to end. Cancelling the task would make its running statement fail.
final class StopSign: Sendable {
    private let flag = Atomic<Bool>(false)

    var isSet: Bool { flag.load(ordering: .acquiring) }

    func set() { flag.store(true, ordering: .releasing) }
}

/// Watches how long sessions wait for locks of tables. Unlike the time of a call, this does not depend on the load of the machine.
struct LockWatch {
    private let sign = StopSign()
    private let task: Task<Double, any Error>

    /// Begins to watch a database.
    init(_ database: TestDatabase) async throws {
        let admin = try await database.admin()
        let sql = """
            SELECT coalesce(max(extract(epoch FROM clock_timestamp() - l.waitstart)), 0)::float8 AS longest FROM pg_locks l
            WHERE NOT l.granted AND l.locktype = 'relation'
                AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
            """
        task = Task { [sign] in
            var longest = 0.0
            while !sign.isSet {
                longest = max(longest, try await admin.query(sql).only().double("longest"))
                try await Task.sleep(for: .milliseconds(10))
            }
            await admin.close()
            return longest
        }
    }

    /// Ends the watch and returns the longest wait that was seen, in seconds.
    func end() async throws -> Double {
        sign.set()
        return try await task.value
    }
}

/// A transaction that stays open after its statements until `end`. A session does not keep a transaction open between two calls, so the transaction itself
/// waits for a lock that this value holds.
struct OpenTransaction {
    private let key = Int32.random(in: 1...Int32.max)
    private let admin: PostgresConnection
    private let task: Task<Void, any Error>

    /// Returns when the statements have run.
    init(_ database: TestDatabase, _ statements: String, isolation: String = "READ COMMITTED") async throws {
        admin = try await database.admin()
        try await admin.script("SELECT pg_advisory_lock(\(key))")
        let holder = try await database.admin()
        let script = "BEGIN ISOLATION LEVEL \(isolation); \(statements); SELECT pg_advisory_xact_lock(\(key)); COMMIT"
        task = Task { try await holder.script(script, timeout: .seconds(170)) }
        let waits = "SELECT count(*) AS n FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = \(key)"
        try await eventually("the transaction has run its statements") {
            try await admin.query(waits).only().int("n") > 0
        }
    }

    /// Commits the transaction.
    func end() async throws {
        try await admin.script("SELECT pg_advisory_unlock(\(key))")
        try await task.value
    }
}
