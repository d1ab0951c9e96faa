import CommandSupport
import Foundation
import Model
import NIOHTTP1
import PostgresClient
import Store
import Testing

@testable import Gateway
@testable import NativeHTTP

/// The search of `GET /v1/messages`, on real PostgreSQL.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct NativeSearchTests {
    /// 1,795,600,000: 25 November 2026.
    private static let start: Int64 = 1_795_600_000_000

    /// Inserts messages, one per second: every tenth is of the vendor `ipns` with the label `winter`, every hundredth mentions a parcel.
    private func fill(_ stage: NativeStage, _ count: Int) async throws {
        let rows = """
            INSERT INTO gateway.message
                (tenant_id, message_id, app_id, vendor, state, lane, content, accepted_at, due_at, due_day, expires_at, submitted_by)
            SELECT 'own', (left(gateway.first_message_id(t.at)::text, 24) || lpad(to_hex(n), 12, '0'))::uuid, 'shop',
                CASE WHEN n % 10 = 0 THEN 'ipns' ELSE 'native' END, 'done', 2,
                json_build_object('title', 'Number ' || n, 'body', CASE WHEN n % 100 = 0 THEN 'Your PARCEL is here' ELSE 'news' END),
                t.at, t.at, floor(extract(epoch FROM t.at) / 86400)::integer, t.at, CASE WHEN n % 2 = 0 THEN 'key:crm' END
            FROM generate_series(1, \(count)) n CROSS JOIN LATERAL (SELECT to_timestamp(\(Self.start / 1000) + n) AS at) t
            """
        for sql in [
            rows,
            """
            INSERT INTO gateway.message_label (tenant_id, app_id, vendor, label, due_day, message_id)
            SELECT m.tenant_id, m.app_id, m.vendor, 'winter', m.due_day, m.message_id FROM gateway.message m
            WHERE m.tenant_id = 'own' AND m.vendor = 'ipns'
            """,
        ] { _ = try await stage.database.engine.run(Statement(sql), tenant: nil) }
    }

    private func page(
        _ stage: NativeStage,
        _ query: String,
        as bearer: String? = nil
    ) async throws -> (titles: [String], next: String?, searchedTo: String?) {
        let answer = try await stage.native(.GET, "/v1/messages?\(query)", as: bearer)
        try #require(answer.status == 200, "\(answer.text)")
        let titles = (answer.json?["messages"]?.array ?? []).map { $0["title"]?.string ?? "" }
        return (titles, answer.json?["next"]?.string, answer.json?["searchedTo"]?.string)
    }

    /// All pages of a search.
    private func all(_ stage: NativeStage, _ query: String) async throws -> [String] {
        var found: [String] = []
        var after: String?
        for _ in 0..<1000 {
            let page = try await page(stage, query + (after.map { "&after=\($0)" } ?? ""))
            found += page.titles
            #expect((page.next == nil) == (page.searchedTo == nil))
            guard let next = page.next else { break }
            after = next
        }
        return found
    }

    private static func time(_ number: Int64) -> String { "\(start + number * 1000)" }

    @Test func eachFilterSelectsItsMessages() async throws {
        try await NativeStage.on { stage in
            try await fill(stage, 300)
            let expected: [(String, [Int])] = [
                ("vendor=ipns", Array(stride(from: 300, to: 0, by: -10))),
                ("submittedBy=key:crm&limit=7", Array(stride(from: 300, to: 0, by: -2))),
                ("label=winter&app=shop", Array(stride(from: 300, to: 0, by: -10))),
                ("text=parcel", [300, 200, 100]), ("text=NUMBER%20299", [299]),
                ("from=\(Self.time(10))&to=\(Self.time(13))", [12, 11, 10]),
                ("from=\(Self.time(295))&vendor=ipns", [300]), ("to=\(Self.time(3))&state=done", [2, 1]),
                ("text=parcel&vendor=native", []), ("label=summer", []), ("app=other&text=parcel", []),
            ]
            for (query, numbers) in expected {
                let found = try await all(stage, query)
                #expect(found == numbers.map { "Number \($0)" }, "\(query): \(found.prefix(5))")
            }
            // I6
            #expect(try await page(stage, "text=parcel", as: stage.otherKey).titles.isEmpty)
        }
    }

    // Braze's and Azure's back ends write the payload themselves.
    @Test func aTextIsFoundInTheAlertOfAPayloadInAVendorsOwnForm() async throws {
        try await NativeStage.on { stage in
            try await fill(stage, 20)
            for (number, alert) in [
                (7, #"{"title": "Sale", "body": "Shoes"}"#), (8, #""Hats and shoes""#), (9, #"{"loc-key": "SHOES"}"#),
            ] {
                let change = """
                    UPDATE gateway.message SET content = json_build_object('title', 'Number \(number)', 'body', '', 'raw',
                        json_build_object('aps', json_build_object('alert', $1::json), 'shoes', 'of the app'))
                    WHERE tenant_id = 'own' AND content->>'title' = 'Number \(number)'
                    """
                _ = try await stage.database.engine.run(Statement(change, [.text(alert)]), tenant: nil)
            }
            #expect(try await all(stage, "text=shoes") == ["Number 8", "Number 7"])
            #expect(try await all(stage, "text=sale") == ["Number 7"])
            #expect(try await all(stage, "text=body").isEmpty, "the names of fields are not searched")
        }
    }

    @Test func aSearchSaysHowFarItWentAndGoesOn() async throws {
        try await NativeStage.on { stage in
            try await fill(stage, 5000)
            // One page searches 2,000 messages.
            let first = try await page(stage, "text=Number%20150")
            #expect(first.titles.isEmpty && first.next != nil)
            let searchedTo = first.searchedTo.flatMap { Timestamp(rfc3339: $0) }
            #expect(searchedTo == Timestamp(milliseconds: Self.start + 3001 * 1000), "\(first)")
            let found = try await all(stage, "text=Number%20150")
            #expect(found == (0..<10).reversed().map { "Number 150\($0)" } + ["Number 150"], "\(found)")
        }
    }

    @Test func aCursorOfAnotherQueryIsRefused() async throws {
        try await NativeStage.on { stage in
            try await fill(stage, 50)
            let search = try #require(try await page(stage, "vendor=ipns&limit=2").next)
            let plain = try #require(try await page(stage, "limit=2").next)
            #expect(try await page(stage, "vendor=ipns&limit=3&after=\(search)").titles.count == 3)
            #expect(try await page(stage, "app=shop&limit=3&after=\(plain)").titles.count == 3)
            for query in [
                "vendor=native&after=\(search)", "vendor=ipns&text=n&after=\(search)", "after=\(search)",
                "vendor=ipns&after=\(plain)", "after=x", "after=\(plain).x",
            ] {
                let answer = try await stage.native(.GET, "/v1/messages?\(query)")
                #expect(answer.status == 422 && answer.text.contains("after: "), "\(query): \(answer.text)")
            }
            let range = try await stage.native(.GET, "/v1/messages?from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z")
            #expect(range.status == 422 && range.text.contains("to: must be after from"), "\(range.text)")
            // A time outside of those that an id can contain is the nearest of them.
            #expect(try await page(stage, "from=0&to=253402300799999&limit=2").titles.count == 2)
        }
    }

    // Whether a text is found says what is in a message.
    @Test func aTextNeedsTheScopeOfContent() async throws {
        try await NativeStage.on { stage in
            try await fill(stage, 100)
            let answer = try await stage.native(.GET, "/v1/messages?text=parcel", as: stage.readKey)
            #expect(answer.status == 403 && answer.text.contains("content"), "\(answer.text)")
            let vendor = try await stage.native(.GET, "/v1/messages?vendor=ipns&limit=1", as: stage.readKey)
            #expect(vendor.status == 200 && !vendor.text.contains("Number"), "\(vendor.text)")
        }
    }
}
