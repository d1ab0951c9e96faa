import DatabaseSupport
import Foundation
import Model
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// The deliveries of all messages, in pages.
@Suite struct StoreExportTests {
    /// 40 deliveries of 8 messages, one per day and hour, of two dialects.
    private static func fill(_ fixture: StoreFixture, _ now: Timestamp) async throws {
        let admin = try await fixture.database.admin()
        try await admin.script(
            """
            INSERT INTO gateway.delivery (tenant_id, due_day, message_id, target_id, app_id, vendor, state, sent_at)
            SELECT t, m.due_day, m.message_id, gen_random_uuid(), 'shop', m.vendor, 'sent', now() FROM unnest(ARRAY['acme', 'other']) AS t
            CROSS JOIN (
                SELECT n, floor(x.at / 86400000)::integer AS due_day, CASE WHEN n % 4 = 0 THEN 'upmc' ELSE 'ipns' END AS vendor,
                    (lpad(to_hex(x.at), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 5, 15))::uuid AS message_id
                FROM generate_series(0, 7) AS n
                CROSS JOIN LATERAL (SELECT \(now.milliseconds) - n * 30 * 3600000::bigint AS at) x) m
            CROSS JOIN generate_series(1, 5);
            """
        )
    }

    private func all(
        _ fixture: StoreFixture,
        from: Timestamp,
        to: Timestamp,
        vendor: Vendor? = nil,
        limit: Int = 7
    ) async throws -> [ExportedDelivery] {
        var found: [ExportedDelivery] = []
        var cursor: DeliveryCursor? = DeliveryCursor(before: from)
        var pages = 0
        while let after = cursor {
            let page = try await fixture.queries.exportedDeliveries(
                after: after,
                before: DeliveryCursor(before: to),
                app: nil,
                vendor: vendor,
                in: fixture.acme,
                limit: limit
            )
            found += page.items
            cursor = page.next
            pages += 1
            try #require(pages < 50)
        }
        return found
    }

    @Test func pagesAreTheWholeRangeInOrder() async throws {
        let fixture = try await StoreFixture.alone()
        let now = try await fixture.now()
        try await Self.fill(fixture, now)
        let all = try await all(fixture, from: now + .seconds(-20 * 86_400), to: now + .seconds(1))
        #expect(all.count == 40 && Set(all.map(\.cursor)).count == 40)
        #expect(all.map(\.cursor) == all.map(\.cursor).sorted())
        #expect(all.allSatisfy { $0.facts.snapshot.state == .sent && $0.cursor.message == $0.facts.snapshot.message })
        // Messages due 30, 60 and 90 hours ago: of the first and the last only the beginning of the range counts.
        let some = try await self.all(fixture, from: now + .seconds(-90 * 3600), to: now + .seconds(-30 * 3600))
        #expect(some.count == 10)
        #expect(
            try await self.all(fixture, from: now, to: now + .seconds(1), limit: 5).count == 5,
            "a full page is the last"
        )
    }

    @Test func aFilterKeepsTheOrder() async throws {
        let fixture = try await StoreFixture.alone()
        let now = try await fixture.now()
        try await Self.fill(fixture, now)
        let some = try await all(
            fixture,
            from: now + .seconds(-20 * 86_400),
            to: now + .seconds(1),
            vendor: .upmc,
            limit: 3
        )
        #expect(some.count == 10 && some.allSatisfy { $0.vendor == .upmc })
        #expect(some.map(\.cursor) == some.map(\.cursor).sorted())
    }

    // Pages with a filter are two statements. Rows that are erased between them would move the end of the search.
    @Test func aPageAndTheEndOfItsSearchAreOfOneSnapshot() async throws {
        let fixture = try await StoreFixture.make()
        let level = Statement("SELECT current_setting('transaction_isolation') AS level")
        func read(_ row: Row) throws(PostgresError) -> String { try row.text("level") }
        let both = try await fixture.call.searched(level, end: level, in: fixture.acme, read)
        #expect(try both.page.rows(read) == ["repeatable read"] && both.end == "repeatable read")
        let alone = try await fixture.call.searched(level, end: nil, in: fixture.acme, read)
        #expect(try alone.page.rows(read).count == 1 && alone.end == nil)
    }

    @Test(arguments: ["", "/", "x/y", "0198a1f0-7c00-7000-8000-000000000001", "0198a1f0-7c00-7000-8000-000000000001/x"])
    func otherTextsAreNoCursors(text: String) { #expect(DeliveryCursor(text: text) == nil) }

    @Test func aCursorIsReadBack() throws {
        let cursor = try #require(
            DeliveryCursor(text: "0198A1F0-7c00-7000-8000-000000000001/5a4fa91d-7e67-4b5f-9b3c-000000000002")
        )
        #expect(DeliveryCursor(text: cursor.text) == cursor)
        #expect(cursor.text == "0198a1f0-7c00-7000-8000-000000000001/5a4fa91d-7e67-4b5f-9b3c-000000000002")
        #expect(DeliveryCursor(before: cursor.message.time) <= cursor)
    }
}
