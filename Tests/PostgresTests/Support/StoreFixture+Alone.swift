import DatabaseSchema
import DatabaseSupport
import Testing

@testable import PostgresClient

extension StoreFixture {
    /// Runs a transaction of the engine in a session of its own: those of the pool are shared with all tests, each of which may wait for a lock.
    ///
    /// For transactions that must not wait for the locks that a test holds: such a wait ends with an error, before the holder gives up.
    func runAlone(_ transaction: Transaction) async throws -> ResultSet {
        var configuration = database.configuration(.engine)
        configuration.lockTimeout = configuration.lockTimeout / 2
        let session = try await PostgresConnection.connect(configuration, logger: TestCluster.logger)
        let results = try await session.run(transaction)
        await session.close()
        return try #require(results.first)
    }
}
