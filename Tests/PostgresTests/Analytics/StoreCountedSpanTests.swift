import DatabaseSupport
import Model
import PostgresClient
import TestKit
import Testing

@testable import EngineStore
@testable import Store

/// Up to which time the figures of the event reader are complete.
@Suite struct StoreCountedSpanTests {
    private let reader = StoreEventReaderTests()

    // Another transaction may have written an event that is older than the answer, and may not have committed it.
    @Test func nothingIsClaimedWhileEventsAreNotCommitted() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        _ = try await reader.devices(fixture, 1)
        try await reader.countAll(fixture)
        func until() async throws -> Timestamp {
            try #require(try await fixture.queries.countedSpan(of: fixture.acme).until)
        }
        let before = try await fixture.now()
        #expect(try await until() >= before, "all events are counted")
        // The transaction of the event waits for a lock that another session holds.
        let gate = try await fixture.database.admin()
        _ = try await gate.query("SELECT pg_advisory_lock(42)::text AS held")
        async let written = admin.run(
            Transaction(
                tenant: nil,
                [
                    Statement(
                        """
                        SELECT gateway.write_events('acme', 'shop', 'native', NULL, 'registered', NULL, 1, NULL, NULL, NULL, NULL,
                            ARRAY[gen_random_uuid()], NULL, NULL)
                        """
                    ), Statement("SELECT pg_advisory_xact_lock(42)::text AS held"),
                ]
            )
        )
        try await eventually("the event is written") {
            let waiting = try await gate.query(
                """
                SELECT count(*) AS n FROM pg_locks l JOIN pg_database d ON d.oid = l.database
                WHERE l.locktype = 'advisory' AND NOT l.granted AND d.datname = current_database()
                """
            )
            return try waiting.only().int("n") > 0
        }
        let open = try await fixture.now()
        #expect(try await until() < before)
        _ = try await gate.query("SELECT pg_advisory_unlock(42) AS done")
        _ = try await written
        #expect(try await until() < open, "it is not counted yet")
        try await reader.countAll(fixture)
        #expect(try await until() >= open)
    }
}
