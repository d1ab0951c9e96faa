import DatabaseSupport

@testable import PostgresClient

/// Watches how long sessions wait for locks of tables. Unlike the time of a call, this does not depend on the load of the machine.
struct LockWatch {
    private let task: Task<Double, any Error>

    /// Begins to watch a database.
    init(_ database: TestDatabase) async throws {
        let admin = try await database.admin()
        // One statement per sample: its own locks are granted.
        let sql = """
            SELECT coalesce(max(extract(epoch FROM clock_timestamp() - l.waitstart)), 0)::float8 AS longest FROM pg_locks l
            WHERE NOT l.granted AND l.locktype = 'relation'
                AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
            """
        task = Task {
            var longest = 0.0
            while !Task.isCancelled {
                longest = max(longest, try await admin.query(sql).only().double("longest"))
                try? await Task.sleep(for: .milliseconds(10))
            }
            await admin.close()
            return longest
        }
    }

    /// Ends the watch and returns the longest wait that was seen, in seconds.
    func end() async throws -> Double {
        task.cancel()
        return try await task.value
    }
}
