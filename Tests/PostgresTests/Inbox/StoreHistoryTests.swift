import DatabaseSupport
import Foundation
import Model
import Testing

@testable import PostgresClient
@testable import Store

/// The cost of a page of a history, wherever it begins. `HISTORY_MESSAGES=1000000` selects the long run.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct StoreHistoryTests {
    private static let weeks = 26
    private static let messages = ProcessInfo.processInfo.environment["HISTORY_MESSAGES"].flatMap { Int($0) } ?? 13_000

    /// One device of one user, with the messages spread over half a year, all received.
    private func fill(_ fixture: StoreFixture, _ device: Registered) async throws {
        let admin = try await fixture.database.admin()
        let today = try await fixture.now().day
        let first = today - Int32(Self.weeks * 7)
        try await admin.script(
            """
            SELECT gateway.make_delivery_partitions(\(first), \(Self.weeks + 2));
            UPDATE gateway.app SET created_at = now() - interval '\(Self.weeks * 7 + 7) days';
            UPDATE gateway.identity SET created_at = now() - interval '\(Self.weeks * 7 + 7) days', user_id = 'E1';
            CREATE TEMPORARY TABLE made AS SELECT
                (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '8'
                    || substr(md5(n::text), 4, 15))::uuid AS id, at, floor(extract(epoch FROM at) / 86400)::integer AS day
            FROM (SELECT n, now() - interval '1 hour' - n * \(Self.weeks * 7 * 86_400)::float8 / \(Self.messages) * interval '1 second' AS at
                FROM generate_series(0, \(Self.messages - 1)) AS n) s;
            INSERT INTO gateway.message (tenant_id, message_id, app_id, vendor, state, lane, content, accepted_at, due_at, due_day, expires_at)
                SELECT 'acme', id, 'shop', 'ipns', 'done', 2, '{"body":"b"}', at, at, day, at FROM made;
            INSERT INTO gateway.delivery (tenant_id, due_day, message_id, target_id, app_id, vendor, identity_id, device_id, user_id,
                    state, sent_at, received_at)
                SELECT 'acme', day, id, '\(device.identity)', 'shop', 'ipns', '\(device.identity)', '\(device.device)', 'E1',
                    'received', at, at FROM made;
            """
        )
        // After the commit: rows that were written in the transaction of an ANALYZE count as changed after it, so that autovacuum analyzes every partition again
        // while the test measures.
        try await admin.script("VACUUM (ANALYZE) gateway.delivery, gateway.message")
        await admin.close()
    }

    @Test func aPageFarBackCostsAsMuchAsTheFirst() async throws {
        let fixture = try await StoreFixture.alone()
        let device = try await fixture.register("D1", token: "aa01", vendor: .ipns)
        try await fill(fixture, device)
        let scope = AppScope(app: "shop", vendor: .ipns)
        let now = try await fixture.now()
        let last = try await oldest(fixture)
        for owner in [HistoryPage.Owner.device, .user(nil)] {
            var times: [String?: [Duration]] = [:]
            for _ in 0..<15 {
                for before in [nil, last] {
                    let page = ListHistory(
                        scope,
                        DeviceCaller(key: "D1"),
                        HistoryPage(owner, before: before, count: 50),
                        at: now,
                        isWhole: true
                    )
                    let start = ContinuousClock.now
                    let entries = try await fixture.ask(page)
                    times[before, default: []].append(ContinuousClock.now - start)
                    try #require(entries.count == 50)
                }
            }
            let medians = [nil, last].compactMap { times[$0]?.sorted()[7] }
            print("\(Self.messages) messages, \(owner): page 1 in \(medians[0]), the last in \(medians[1])")
            let (newest, far) = (
                try await pages(fixture, device, owner, now, nil), try await pages(fixture, device, owner, now, last)
            )
            print("pages of memory: \(newest) and \(far)")
            #expect(far <= newest * 3 / 2, "a page far back reads \(far) pages, the first \(newest)")
        }
    }

    /// Nothing was read. A page of read messages finds nothing, and a count of unread messages has no natural end;
    /// both stop at the limit.
    @Test func aLookEndsAtItsLimit() async throws {
        let fixture = try await StoreFixture.alone()
        let device = try await fixture.register("D1", token: "aa01", vendor: .ipns)
        try await fill(fixture, device)
        let scope = AppScope(app: "shop", vendor: .ipns)
        let now = try await fixture.now()
        let caller = DeviceCaller(key: "D1")
        let unread = CountUnread(
            scope,
            caller,
            .user("E1"),
            hiddenBy: "dbIn",
            limit: HistoryPage.lookLimit,
            at: now,
            isWhole: true
        )
        #expect(try await fixture.ask(unread) == HistoryPage.lookLimit)
        let read = HistoryPage(.user("E1"), count: 50, look: HistoryLook(isRead: true))
        #expect(try await fixture.ask(ListHistory(scope, caller, read, at: now, isWhole: true)) == [])

        let admin = try await fixture.database.admin()
        let from = MessageID.first(at: now)?.description ?? ""
        func looked(_ isRead: String, _ looks: Int, _ limit: Int) async throws -> Int {
            let sql = """
                SELECT * FROM gateway.find_history('acme', 'shop', 'ipns', 'D1', NULL, NULL, 'user', 'E1', NULL, '\(from)',
                    \(now.day), \(isRead), 'dbIn', \(looks), \(limit))
                """
            return try await Self.leastHits(sql, admin)
        }
        let page = try await looked("NULL", HistoryPage.lookLimit, 50)
        let vain = try await looked("true", HistoryPage.lookLimit, 50)
        let unbounded = try await looked("true", Self.messages, 50)
        let count = try await looked("false", HistoryPage.lookLimit, HistoryPage.lookLimit)
        let all = try await looked("false", Self.messages, Self.messages)
        print(
            "pages of memory: \(page) for a page, \(vain) of \(unbounded) for one of nothing, \(count) for a count, \(all) for all"
        )
        await admin.close()
        // A thousand of thirteen thousand messages, in three walks instead of one.
        #expect(vain * 3 < unbounded)
        #expect(count * 5 < all)
        #expect(page * 5 < count)
    }

    /// The message after which a page of the oldest week begins. The page lies in the middle of the week: a page of two weeks reads two partitions.
    private func oldest(_ fixture: StoreFixture) async throws -> String {
        let admin = try await fixture.database.admin()
        let row = try await admin.query(
            "SELECT message_id::text AS id FROM gateway.message WHERE due_day % 7 = 4 ORDER BY message_id OFFSET 50 LIMIT 1"
        )
        let id = try row.only().text("id")
        await admin.close()
        return id
    }

    /// The number of memory pages that the walk reads. Unlike its time, it is the same on every machine.
    private func pages(
        _ fixture: StoreFixture,
        _ device: Registered,
        _ owner: HistoryPage.Owner,
        _ now: Timestamp,
        _ before: String?
    ) async throws -> Int {
        let admin = try await fixture.database.admin()
        let user = owner == .device ? "NULL" : "'E1'"
        let from = before ?? MessageID.first(at: now)?.description ?? ""
        let walk = """
            SELECT * FROM gateway.walk_history('acme', 'shop', 'ipns', '\(device.identity)', \(user),
                \(now.day - Int32(Self.weeks * 7 + 7)),
                coalesce((SELECT due_day FROM gateway.message WHERE tenant_id = 'acme' AND message_id = '\(from)'), \(now.day)), '\(from)', 50)
            """
        let hits = try await Self.leastHits(walk, admin)
        await admin.close()
        return hits
    }

    /// The fewest pages of memory that a query reads in four runs on one connection.
    ///
    /// The reads of the tables are the same in each run. Reads of the catalog come on top: in the first run, and in each run before which another session has
    /// changed what the server remembers of a table. Autovacuum does that when it analyzes one, at any moment, and the statistics of one partition are some
    /// forty pages.
    private static func leastHits(_ sql: String, _ admin: PostgresConnection) async throws -> Int {
        var least = Int.max
        for _ in 0..<4 {
            let plan = try await admin.query("EXPLAIN (ANALYZE, BUFFERS, FORMAT TEXT) " + sql)
            least = min(least, try hits(plan))
        }
        return least
    }

    /// The number of memory pages in the first line of a plan that states one.
    private static func hits(_ plan: ResultSet) throws -> Int {
        for row in plan {
            let text = try row.text("QUERY PLAN")
            guard let match = text.firstMatch(of: /shared hit=([0-9]+)(?: read=([0-9]+))?/) else { continue }
            return (Int(match.1) ?? 0) + (match.2.flatMap { Int($0) } ?? 0)
        }
        throw PostgresError(.unexpectedRowCount)
    }
}
