import DatabaseSupport
import Foundation
import Testing

@testable import DatabaseSchema
@testable import PostgresClient

/// Values written to a real server and read back.
@Suite struct ClientValueTests {
    private static let shared = Task { try await TestCluster.database(migrated: false).pool(.call) }

    private func pool() async throws -> PostgresPool { try await Self.shared.value }

    private func row(_ sql: String, _ parameters: [PostgresValue] = []) async throws -> Row {
        try await pool().run(Statement(sql, parameters), tenant: nil).only()
    }

    @Test func scalarsAreReadAsWritten() async throws {
        let uuid = UUID()
        let row = try await row(
            "SELECT $1 AS b, $2 AS i2, $3 AS i4, $4 AS i8, $5 AS d, $6 AS t, $7 AS y, $8 AS u, $9 AS at, $10 AS j",
            [
                .bool(true), .int16(-7), .int32(.min), .int64(.max), .double(-0.1), .text("ünïcode 🎉 'x'"),
                .bytes([0, 255, 0]), .uuid(uuid), .timestamp(1_700_000_000_123_456), .json("{\"a\": [1, null]}"),
            ]
        )
        #expect(try row.bool("b"))
        #expect(try row.int("i2") == -7 && row.int("i4") == Int(Int32.min) && row.int64("i8") == .max)
        #expect(try row.double("d") == -0.1)
        #expect(try row.text("t") == "ünïcode 🎉 'x'")
        #expect(try row.bytes("y") == [0, 255, 0])
        #expect(try row.uuid("u") == uuid && row.text("u") == uuid.uuidString.lowercased())
        #expect(try row.microseconds("at") == 1_700_000_000_123_456 && row.milliseconds("at") == 1_700_000_000_123)
        #expect(try row.text("j") == "{\"a\": [1, null]}")
    }

    @Test func nullsKeepTheStatementsTypes() async throws {
        let row = try await row(
            "SELECT $1 AS t, $2 AS n, $3 AS u, $4 AS at, $5 AS y, $6 AS d, $7 AS b",
            [.text(nil), .int(nil), .uuid(nil), .milliseconds(Int64?.none), .bytes(nil), .double(nil), .bool(nil)]
        )
        #expect(try row.optionalText("t") == nil && row.optionalInt("n") == nil && row.optionalUUID("u") == nil)
        #expect(try row.optionalMilliseconds("at") == nil && row.isNull("y"))
        #expect(try row.isNull("d") && row.optionalBool("b") == nil && row.isNull("t"))
    }

    @Test func arraysUnnestWithTheirNulls() async throws {
        let ids = [UUID(), UUID()]
        let rows = try await pool().run(
            Statement(
                "SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9) AS r (u, t, n, y, at, b, s, i, d)",
                [
                    .uuids(ids), .texts(["a,\"{}", nil]), .ints([1, 2]), .byteArrays([[1], nil]),
                    .timestamps([0, nil]), .bools([true, nil]), .int16s([3, nil]), .int32s([4, nil]),
                    .doubles([0.5, nil]),
                ]
            ),
            tenant: nil
        )
        #expect(try rows.map { row throws(PostgresError) in try row.uuid("u") } == ids)
        #expect(try rows[0].text("t") == "a,\"{}" && rows[1].optionalText("t") == nil)
        #expect(try rows[1].int("n") == 2 && rows[0].bytes("y") == [1] && rows[0].microseconds("at") == 0)
        #expect(try rows[0].bool("b") && rows[0].int("s") == 3 && rows[0].int("i") == 4 && rows[0].double("d") == 0.5)
        let empty = try await row("SELECT count(*) AS n FROM unnest($1::text[])", [.texts([])])
        #expect(try empty.int("n") == 0)
    }

    @Test func arraysAreReadAsArrays() async throws {
        let row = try await row(
            "SELECT '{1,2}'::int[] AS i, '{}'::text[] AS e, '{a,b}'::text[] AS t, NULL::text[] AS z, '{NULL}'::int[] AS x"
        )
        #expect(try row.ints("i") == [1, 2] && row.texts("e") == [] && row.texts("t") == ["a", "b"])
        #expect(try row.optionalTexts("z") == nil)
        #expect(throws: PostgresError.self) { try row.ints("x") }
    }

    @Test func sumsAreWholeNumbers() async throws {
        for number in ["0", "7", "-12345678", "10000", "9223372036854775807", "-9223372036854775808", "100000000"] {
            #expect(try await row("SELECT '\(number)'::numeric AS n").int64("n") == Int64(number))
        }
        for number in ["0.5", "9223372036854775808", "NaN"] {
            let row = try await row("SELECT '\(number)'::numeric AS n")
            #expect { try row.int("n") } throws: { ($0 as? PostgresError)?.code == .typeMismatch }
        }
    }

    @Test func timesOutsideTheClockAreClampedNotTrapped() async throws {
        let row = try await row(
            "SELECT $1 AS a, $2 AS b, 'infinity'::timestamptz AS i, '-infinity'::date AS d, '1969-12-31 23:59:59.9995Z'::timestamptz AS e",
            [.timestamp(.max), .milliseconds(Int64.min)]
        )
        #expect(try row.microseconds("a") == PostgresTime.latest && row.microseconds("b") == PostgresTime.earliest)
        #expect(try row.microseconds("i") > PostgresTime.latest && row.microseconds("d") < PostgresTime.earliest)
        #expect(try row.milliseconds("e") == -1)
    }

    @Test func wrongReadsAreErrorsWithTheColumnsName() async throws {
        let row = try await row("SELECT 'secret' AS t, NULL::int AS n")
        func code(_ body: () throws -> some Any) -> PostgresError.Code? {
            do { _ = try body() } catch { return (error as? PostgresError)?.code }
            return nil
        }
        #expect(code { try row.int("t") } == .typeMismatch)
        #expect(code { try row.int("n") } == .unexpectedNull)
        #expect(code { try row.text("missing") } == .noSuchColumn)
        #expect(code { try row.text(2) } == .noSuchColumn)
        #expect(code { try row.text(-1) } == .noSuchColumn)
        #expect(code { try row.ints("t") } == .typeMismatch)
    }

    @Test func aColumnThatWasLookedUpIsReadLikeItsName() async throws {
        let set = try await pool().run(Statement("SELECT 'a' AS t, 7 AS n", []), tenant: nil)
        let row = try set.only()
        #expect(try row.text(set.column("t")) == "a" && row.int(set.column("n")) == 7)
        #expect(set.column("n").label == "#1" && set.column("missing").label == "missing")
    }

    @Test func errorsNeverQuoteValues() async throws {
        let pool = try await pool()
        let attempts = [
            Statement("SELECT $1::text::int", [.text("secret")]),
            Statement("SELECT $1::text::uuid", [.text("secret")]),
            Statement("SELECT $1", [.text("secret\u{0}")]),
        ]
        for attempt in attempts {
            await #expect { try await pool.run(attempt, tenant: nil) } throws: { error in
                !"\(error)".contains("secret") && !String(reflecting: error).contains("secret")
            }
        }
    }
}
