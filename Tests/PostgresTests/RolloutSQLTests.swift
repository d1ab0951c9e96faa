import DatabaseSupport
import Model
import Routing
import Testing

@testable import PostgresClient
@testable import Store

/// A rollout selects the same members in SQL (docs/routing.md#rollouts).
@Suite struct RolloutSQLTests {
    @Test func postgreSQLComputesTheSameBuckets() async throws {
        let fixture = try await StoreFixture.make()
        let keys = (0..<2000).map { "u\($0)" } + ["", "홍길동", "d0d1d2d3d4d5d6d7d8d9dadbdcdddedf", "a'b\\c", "é"]
        for salt in ["spring", "봄", "s p"] {
            let statement = Statement(
                """
                SELECT k.place, ('x' || encode(substr(sha256(convert_to($1, 'UTF8') || '\\x00' || convert_to(k.key, 'UTF8')), 1, 4), 'hex'))::bit(32)::bigint
                    & 4294967295 AS bucket
                FROM unnest($2::text[]) WITH ORDINALITY AS k(key, place) ORDER BY k.place
                """,
                [.string(salt), .strings(keys)]
            )
            let rows = try await fixture.engine.run(statement, tenant: nil)
            let found = try rows.rows { (row) throws(PostgresError) in
                UInt32(truncatingIfNeeded: try row.int64("bucket"))
            }
            let own = keys.map { Rollout.bucket(of: $0, salt: salt) }
            #expect(found == own)
        }
    }
}
