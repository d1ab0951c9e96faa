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

    // The keys of the documented shares, computed by the database in one statement: the four bytes of each, one behind the other.
    @Test func aHundredThousandBucketsAreThoseOfPostgreSQL() async throws {
        let fixture = try await StoreFixture.make()
        let (salt, count) = ("spring", 100_000)
        let statement = Statement(
            """
            SELECT string_agg(
                substr(sha256(convert_to($1, 'UTF8') || '\\x00' || convert_to('u' || n, 'UTF8')), 1, 4), ''::bytea ORDER BY n
            ) AS buckets
            FROM generate_series(0, $2::bigint - 1) AS n
            """,
            [.string(salt), .int64(Int64(count))]
        )
        let found = try await fixture.engine.run(statement, tenant: nil).only().bytes("buckets")
        try #require(found.count == 4 * count)
        let rollout = try #require(Rollout(hundredths: 1000, by: .user, salt: salt))
        var members = 0
        for number in 0..<count {
            let bucket = Rollout.bucket(of: "u\(number)", salt: salt)
            let place = 4 * number
            let theirs = found[place..<place + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            guard bucket == theirs else {
                Issue.record("u\(number): \(bucket), and in SQL \(theirs)")
                return
            }
            if rollout.includes(bucket: theirs) { members += 1 }
        }
        // Within 0.2 points of 10 %.
        #expect((count / 10 - count / 500...count / 10 + count / 500).contains(members))
    }

    // The documented shares, and two sums, of which one depends on the key of each bucket. `RolloutTests` expects the same of the gateway's own buckets.
    @Test func aMillionBucketsHaveTheSharesAndSumsOfTheGateway() async throws {
        let fixture = try await StoreFixture.make()
        let names: [ColumnReference] = ["one", "ten", "twenty", "fifty", "total", "weighted"]
        var found = [Int64](repeating: 0, count: names.count)
        for first in stride(from: 0, to: 1_000_000, by: 100_000) {
            let statement = Statement(
                """
                SELECT count(*) FILTER (WHERE k.bucket < 42949672) AS one, count(*) FILTER (WHERE k.bucket < 429496729) AS ten,
                    count(*) FILTER (WHERE k.bucket < 858993459) AS twenty, count(*) FILTER (WHERE k.bucket < 2147483648) AS fifty,
                    sum(k.bucket)::bigint AS total, sum(k.n % 1000 * k.bucket)::bigint AS weighted
                FROM (
                    SELECT n, ('x' || encode(
                        substr(sha256(convert_to($1, 'UTF8') || '\\x00' || convert_to('u' || n, 'UTF8')), 1, 4), 'hex'
                    ))::bit(32)::bigint & 4294967295 AS bucket
                    FROM generate_series($2::bigint, $2::bigint + 99999) AS n
                ) AS k
                """,
                [.string("spring"), .int64(Int64(first))]
            )
            let row = try await fixture.engine.run(statement, tenant: nil).only()
            for (place, name) in names.enumerated() { found[place] += try row.int64(name) }
        }
        #expect(found == [9857, 99_955, 200_103, 499_845, 2_147_443_037_914_189, 1_072_436_220_531_823_086])
    }
}
