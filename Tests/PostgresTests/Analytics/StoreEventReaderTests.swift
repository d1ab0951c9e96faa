import DatabaseSupport
import DeliveryEngine
import Foundation
import Model
import TestKit
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// The reader of the event log: whatever fails, its figures are those of a recount of the deliveries.
@Suite struct StoreEventReaderTests {
    /// Counts everything, and fails if that takes more than 200 steps.
    func countAll(_ fixture: StoreFixture, by node: NodeID? = nil, limit: Int = 10_000) async throws {
        let reader = PostgresEventReader(engine: fixture.engine, node: node ?? fixture.node)
        var last: Int64 = -1
        for _ in 0..<200 {
            let progress = try #require(try await reader.step(fixture.acme, limit: limit))
            if progress.cursor == last { return }
            last = progress.cursor
        }
        Issue.record("the reader does not end")
    }

    // MARK: Recount

    /// The numbers of values by kind and bucket that the deliveries give.
    private func expected(_ admin: PostgresConnection, _ tenant: TenantID) async throws -> [String: Int64] {
        let rows = try await admin.query(
            """
            WITH d AS (
                SELECT d.*, coalesce(d.due_at, m.due_at) AS start, floor(extract(epoch FROM m.due_at) / 900)::integer AS quarter,
                    floor(extract(epoch FROM d.sent_at) * 1000) AS sent, floor(extract(epoch FROM d.received_at) * 1000) AS received,
                    floor(extract(epoch FROM d.read_at) * 1000) AS read
                FROM gateway.delivery d JOIN gateway.message m ON m.tenant_id = d.tenant_id AND m.message_id = d.message_id
                WHERE d.tenant_id = $1 AND d.sent_at IS NOT NULL),
            l AS (
                SELECT 'delivery' AS kind, quarter, sent - floor(extract(epoch FROM start) * 1000) AS ms FROM d
                WHERE transport NOT LIKE '%:%'
                UNION ALL SELECT 'transport', quarter, transport_ms FROM d WHERE transport_ms IS NOT NULL
                UNION ALL SELECT 'receipt', quarter, received - sent FROM d WHERE state IN ('received', 'read')
                UNION ALL SELECT 'read', quarter, read - sent FROM d WHERE state = 'read')
            SELECT kind, quarter, CASE WHEN ms <= 1 THEN 0 ELSE least(248, floor(8 * ln(ms::float8) / ln(2::float8) + 1e-9))::integer END AS bucket,
                count(*) AS count, count(*) FILTER (WHERE ms < 0) AS negative
            FROM l GROUP BY 1, 2, 3
            """,
            [.text(tenant.rawValue)]
        )
        var found: [String: Int64] = [:]
        for row in rows {
            let name = "\(try row.text("kind")) \(try row.int("quarter"))"
            found["\(name) \(try row.int("bucket"))", default: 0] += try row.int64("count")
            let negative = try row.int64("negative")
            if negative > 0 { found["\(name) negative", default: 0] += negative }
        }
        let distinct = try await admin.query(
            """
            SELECT s.subject || ' ' || s.stage AS name, count(DISTINCT s.value) AS count FROM gateway.delivery d
            CROSS JOIN LATERAL (VALUES
                ('device', 'reached', d.device_id::text, true), ('user', 'reached', d.user_id, true),
                ('device', 'received', d.device_id::text, d.state <> 'sent'), ('user', 'received', d.user_id, d.state <> 'sent'),
                ('device', 'read', d.device_id::text, d.state = 'read'), ('user', 'read', d.user_id, d.state = 'read'))
                AS s(subject, stage, value, applies)
            WHERE d.tenant_id = $1 AND d.state IN ('sent', 'received', 'read') AND s.applies
            GROUP BY 1 HAVING count(DISTINCT s.value) > 0
            """,
            [.text(tenant.rawValue)]
        )
        for row in distinct { found[try row.text("name")] = try row.int64("count") }
        let counts = try await admin.query(
            """
            SELECT concat_ws(' ', p.property, p.value, k.kind) AS name, count(*) AS count FROM gateway.delivery d
            CROSS JOIN LATERAL (VALUES
                ('client', coalesce(d.client::text, '')), ('campaign', 'spring/36'),
                ('hour', coalesce(d.local_hour, (floor(extract(epoch FROM d.sent_at) / 3600) + 72)::bigint % 168)::text)) AS p(property, value)
            CROSS JOIN LATERAL (
                SELECT 'reached' AS kind UNION ALL SELECT 'received' WHERE d.state <> 'sent' UNION ALL SELECT 'read' WHERE d.state = 'read') k
            WHERE d.tenant_id = $1 AND d.sent_at IS NOT NULL AND d.state IN ('sent', 'received', 'read') GROUP BY 1
            """,
            [.text(tenant.rawValue)]
        )
        for row in counts { found[try row.text("name")] = try row.int64("count") }
        return found
    }

    /// The same from the figures of the reader.
    private func counted(_ admin: PostgresConnection, _ tenant: TenantID) async throws -> [String: Int64] {
        var found: [String: Int64] = [:]
        let rows = try await admin.query(
            "SELECT kind, quarter, histogram FROM gateway.latency WHERE tenant_id = $1",
            [.text(tenant.rawValue)]
        )
        for row in rows {
            let histogram = try #require(LatencyHistogram(encoded: try row.bytes("histogram")))
            let name = "\(try row.text("kind")) \(try row.int("quarter"))"
            for (bucket, count) in histogram.buckets { found["\(name) \(bucket)", default: 0] += count }
            if histogram.negative > 0 { found["\(name) negative", default: 0] += histogram.negative }
        }
        var sketches: [String: DistinctSketch] = [:]
        let stored = try await admin.query(
            "SELECT subject || ' ' || stage AS name, sketch FROM gateway.device_sketch WHERE tenant_id = $1",
            [.text(tenant.rawValue)]
        )
        for row in stored {
            let sketch = try #require(DistinctSketch(encoded: try row.bytes("sketch")))
            sketches[try row.text("name"), default: DistinctSketch()].merge(sketch)
        }
        for (name, sketch) in sketches { found[name] = sketch.estimate }
        let counts = try await admin.query(
            """
            SELECT concat_ws(' ', c.property, c.value || coalesce('/' || nullif(c.variant, ''), ''), k.kind) AS name,
                sum(k.count)::bigint AS count
            FROM gateway.property_count c
            CROSS JOIN LATERAL (VALUES ('reached', c.reached), ('received', c.received), ('read', c.read)) AS k(kind, count)
            WHERE c.tenant_id = $1 AND k.count <> 0 GROUP BY 1
            """,
            [.text(tenant.rawValue)]
        )
        for row in counts { found[try row.text("name")] = try row.int64("count") }
        return found
    }

    func expectExact(_ fixture: StoreFixture, _ admin: PostgresConnection) async throws {
        let (expected, counted) = (
            try await expected(admin, fixture.acme), try await counted(admin, fixture.acme)
        )
        let keys = Set(expected.keys).union(counted.keys)
        let differences = keys.filter { expected[$0] != counted[$0] }.sorted()
        #expect(
            differences.isEmpty,
            "\(differences.map { "\($0): \(counted[$0] ?? 0), not \(expected[$0] ?? 0)" })"
        )
        #expect(!expected.isEmpty)
    }

    // MARK: Histories

    func devices(_ fixture: StoreFixture, _ count: Int) async throws -> [Registered] {
        var devices: [Registered] = []
        for index in 0..<count {
            devices.append(try await fixture.register(VendorDeviceKey("k\(index)"), token: "ab\(100 + index)"))
        }
        return devices
    }

    /// A message to the devices: some report before the outcome, some contradict it, some twice, and some only fetch the message.
    func history(_ fixture: StoreFixture, _ devices: [Registered], _ random: inout SplitMix) async throws {
        let identities = devices.map(\.identity)
        var content = Content(title: "t", body: "b")
        (content.campaign, content.campaignVariant) = ("spring", "36")
        let message = try await fixture.message(to: identities.map { (TargetID($0), nil) }, content: content)
        try await fixture.accept(message)
        let lease = fixture.lease(of: message)
        func report(_ index: Int) async throws {
            let kind = Bool.random(using: &random) ? ReceiptKind.received : .read
            _ = try await fixture.receipt(message.id, VendorDeviceKey("k\(index)"), kind)
        }
        for index in devices.indices where Int.random(in: 0..<4, using: &random) == 0 {
            try await report(index)
            if Bool.random(using: &random) { try await report(index) }
        }
        var current = lease
        for index in devices.indices {
            let isLast = index == devices.count - 1
            let state: DeliveryState = [.sent, .sent, .sent, .failed, .expired][Int.random(in: 0..<5, using: &random)]
            let at = try await fixture.now() + .milliseconds(Int64.random(in: -50...50, using: &random))
            // The gateway did not make the push of an upstream, which has no time of delivery.
            let transport = Int.random(in: 0..<4, using: &random) == 0 ? "upstream:old" : "apns"
            var progress = try await fixture.progress(
                current,
                [index],
                state,
                disposition: isLast ? .finished : .goOn,
                transport: state == .expired ? nil : transport,
                at: at
            )
            progress.results[0].device = devices[index].device
            progress.results[0].user = UserID("u\(index % 7)")
            progress.results[0].client = [nil, 0, 7, 1 << 59].randomElement(using: &random) ?? nil
            progress.results[0].localHour = [nil, 0, 5, 167].randomElement(using: &random)?.flatMap { WeekHour($0) }
            if state != .expired { progress.results[0].attempt.latency = Int32.random(in: 0...3000, using: &random) }
            _ = try await fixture.delivery.record(progress, by: fixture.node)
            current = progress.lease
        }
        let admin = try await fixture.database.admin()
        for index in devices.indices {
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                guard Int.random(in: 0..<4, using: &random) == 0 else {
                    try await report(index)
                    continue
                }
                _ = try await admin.query(
                    "SELECT gateway.mark_deliveries($1, $2, ARRAY[$3::uuid], ARRAY[$4::integer], $5, now(), 'n') IS NULL AS none",
                    [
                        .text(fixture.acme.rawValue), .uuid(devices[index].identity.rawValue),
                        .uuid(message.id.rawValue),
                        .int32(message.times.dueAt.day), .text(Bool.random(using: &random) ? "received" : "read"),
                    ]
                )
            }
        }
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func figuresAreThoseOfARecount(_ seed: UInt64) async throws {
        let fixture = try await StoreFixture.make()
        let admin = try await fixture.database.admin()
        let devices = try await devices(fixture, 20)
        var random = SplitMix(state: seed)
        for round in 0..<3 {
            try await history(fixture, devices, &random)
            // Once in small steps, once with everything that has happened since.
            try await countAll(fixture, limit: round == 0 ? 7 : 10_000)
            try await expectExact(fixture, admin)
        }
        let marks = try await admin.query(
            "SELECT count(*) AS count FROM gateway.receipt_mark WHERE tenant_id = $1 AND is_early",
            [.text(fixture.acme.rawValue)]
        )
        #expect(try marks.only().int("count") == 0)
    }

    // A value beyond the limit of an app and day is counted with the others.
    @Test func furtherValuesOfADayAreCountedTogether() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        let devices = try await devices(fixture, 30)
        var random = SplitMix(state: 3)
        try await history(fixture, devices, &random)
        let day = try await fixture.now().day
        for property in CountedProperty.allCases {
            try await admin.script(
                """
                INSERT INTO gateway.property_count (tenant_id, day, app_id, property, value, variant)
                SELECT 'acme', \(day), 'shop', '\(property.rawValue)', '9000' || n, '' FROM generate_series(1, \(CountedValue.limit - 1)) AS n
                """
            )
        }
        try await countAll(fixture, limit: 11)
        let rows = try await admin.query(
            "SELECT property, value, variant, reached FROM gateway.property_count WHERE reached > 0 ORDER BY property"
        )
        let found = try rows.map { (row) throws(PostgresError) in
            "\(try row.text("property")) '\(try row.text("value"))' '\(try row.text("variant"))'"
        }
        #expect(found == ["campaign '' ''", "client '0' ''", "hour '' ''"])
        let reached = try await admin.query(
            "SELECT count(*) AS n FROM gateway.delivery WHERE state IN ('sent', 'received', 'read')"
        )
        let number = try reached.only().int64("n")
        for row in rows { #expect(try row.int64("reached") == number) }
    }

    // The additions and the cursor are one transaction: a step that fails at its last write counts nothing.
    @Test func aStepThatFailsCountsNothingAndIsRepeated() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        let devices = try await devices(fixture, 12)
        var random = SplitMix(state: 5)
        for _ in 0..<3 { try await history(fixture, devices, &random) }
        let reader = PostgresEventReader(engine: fixture.engine, node: fixture.node)
        let end = try #require(try await fixture.log().last?.offset)
        var failures = 0
        for step in 0..<400 {
            let fails = step % 3 == 0
            if fails {
                try await admin.script(
                    "ALTER TABLE gateway.device_sketch ADD CONSTRAINT failing CHECK (sketch = '') NOT VALID"
                )
            }
            do throws(StoreError) {
                if let progress = try await reader.step(fixture.acme, limit: 5), progress.cursor >= end, !fails {
                    break
                }
            } catch {
                failures += 1
            }
            if fails { try await admin.script("ALTER TABLE gateway.device_sketch DROP CONSTRAINT failing") }
        }
        #expect(failures > 5)
        try await countAll(fixture)
        try await expectExact(fixture, admin)
    }

    // A node that was believed dead goes on after another one has taken its lease.
    @Test func nodesThatCountTheSameEventsCountThemOnce() async throws {
        let fixture = try await StoreFixture.make()
        let admin = try await fixture.database.admin()
        let devices = try await devices(fixture, 16)
        var random = SplitMix(state: 9)
        for _ in 0..<3 { try await history(fixture, devices, &random) }
        let end = try #require(try await fixture.log().last?.offset)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for node in ["node-a", "node-b", "node-c"] as [NodeID] {
                group.addTask {
                    let reader = PostgresEventReader(engine: fixture.engine, node: node)
                    for _ in 0..<2000 {
                        let progress = try await reader.step(fixture.acme, limit: 3)
                        if let progress, progress.cursor >= end { return }
                    }
                }
            }
            group.addTask {
                for _ in 0..<300 {
                    try await admin.script(
                        "UPDATE gateway.event_reader SET next_at = now() - interval '1 second' WHERE tenant_id = '\(fixture.acme.rawValue)'"
                    )
                }
            }
            try await group.waitForAll()
        }
        try await countAll(fixture)
        try await expectExact(fixture, admin)
    }

    // MARK: Log

    @Test func workIsFoundAndEndsWhenEverythingIsCounted() async throws {
        let fixture = try await StoreFixture.alone()
        let reader = PostgresEventReader(engine: fixture.engine, node: fixture.node)
        #expect(try await reader.look() == .init(tenants: [], areSlicesWaiting: false))
        _ = try await devices(fixture, 2)
        #expect(try await reader.look().tenants == ["acme"])
        try await countAll(fixture)
        #expect(try await reader.look().tenants == [])
        let admin = try await fixture.database.admin()
        let changes = try await admin.query("SELECT gained, lost, invalidated FROM gateway.device_change").only()
        #expect(try changes.int("gained") == 2 && changes.int("lost") == 0)
        // A slice that is due and unclaimed makes the reader wait.
        _ = try await fixture.sending(to: [IdentityID(UUID())])
        try await admin.script("UPDATE gateway.slice SET state = 'ready', next_at = now() - interval '2 seconds'")
        #expect(try await reader.look() == .init(tenants: ["acme"], areSlicesWaiting: true))
        try await admin.script("UPDATE gateway.slice SET next_at = now() + interval '5 minutes'")
        #expect(try await reader.look().areSlicesWaiting == false)
    }

    @Test func anotherNodeWaitsForTheLease() async throws {
        let fixture = try await StoreFixture.make()
        _ = try await devices(fixture, 1)
        try await countAll(fixture)
        let admin = try await fixture.database.admin()
        try await admin.script(
            "UPDATE gateway.event_reader SET next_at = now() + interval '1 minute' WHERE tenant_id = '\(fixture.acme.rawValue)'"
        )
        let other = PostgresEventReader(engine: fixture.engine, node: "other")
        #expect(try await other.step(fixture.acme) == nil)
    }

    @Test func retentionKeepsEventsThatAreNotCountedForFourteenDays() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        _ = try await devices(fixture, 1)
        try await countAll(fixture)
        _ = try await fixture.register("late", token: "abcd")
        try await admin.script(EventAge.older(by: 9))
        let maintenance = PostgresMaintenance(engine: fixture.engine, node: fixture.node)
        _ = try await maintenance.removeExpired(RetentionPolicy())
        #expect(try await fixture.log().count == 1)
        try await admin.script(EventAge.older(by: 6))
        _ = try await maintenance.removeExpired(RetentionPolicy())
        #expect(try await fixture.log().isEmpty)
        // The reader goes on behind the gap, and remembers its length.
        _ = try await fixture.register("last", token: "abce")
        let reader = PostgresEventReader(engine: fixture.engine, node: fixture.node)
        #expect(try await reader.step(fixture.acme) == .init(cursor: 3, lost: 1))
        let changes = try await admin.query("SELECT sum(gained)::bigint AS gained FROM gateway.device_change").only()
        #expect(try changes.int("gained") == 2)
        // From here on, everything is counted.
        let first = try await admin.query("SELECT min(at) AS at FROM gateway.event_batch WHERE tenant_id = 'acme'")
            .only()
        #expect(try await fixture.queries.countedSpan(of: fixture.acme).since == (try first.time("at")))
    }

    // The quiet hours of a device end long after its message was due: the push that follows is not late.
    @Test func aDeliveryIsTimedFromTheEndOfItsHours() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        let devices = try await devices(fixture, 3)
        let (message, lease) = try await fixture.sending(to: devices.map(\.identity), addresses: [nil, nil, nil])
        var progress = try await fixture.progress(lease, [0], disposition: .again(after: .seconds(7200)))
        progress.movesDue = true
        progress.retries = [
            RetrySlice(indexes: [1], disposition: .again(after: .seconds(3600)), countsAttempt: false, movesDue: true),
            RetrySlice(indexes: [2], disposition: .again(after: .seconds(3600)), countsAttempt: true),
        ]
        _ = try await fixture.delivery.record(progress, by: fixture.node)
        let due = try await admin.query(
            """
            SELECT string_agg(coalesce(round(extract(epoch FROM s.due_at - now()) / 3600)::text, '-'), ' ' ORDER BY s.no) AS hours
            FROM gateway.slice s WHERE s.message_id = $1
            """,
            [.uuid(message.id.rawValue)]
        )
        // The last one waits for something else, and was due with its message.
        #expect(try due.only().text("hours") == "2 1 -")
        // An hour has passed since.
        try await admin.script(
            """
            UPDATE gateway.slice SET next_at = now(), due_at = due_at - interval '1 hour';
            UPDATE gateway.message SET due_at = due_at - interval '1 hour';
            """
        )
        let claimed = try await fixture.delivery.claim(
            tenant: fixture.acme,
            lane: .transactional,
            limit: 10,
            by: fixture.node,
            lease: .seconds(60)
        )
        let moved = try #require(claimed.first { $0.key.number == 1 })
        _ = try await fixture.delivery.record(try await fixture.progress(moved, [0]), by: fixture.node)
        try await countAll(fixture)
        let buckets = try await counted(admin, fixture.acme).keys.filter { $0.hasPrefix("delivery") }.compactMap {
            Int($0.split(separator: " ").last ?? "")
        }.sorted()
        // The first one was due an hour ago, and the one that waited was due when its hours ended.
        let (hour, minute) = (LatencyHistogram.bucket(of: 3_590_000), LatencyHistogram.bucket(of: 60_000))
        try #require(buckets.count == 2, "\(buckets)")
        #expect(buckets[0] < minute && buckets[1] >= hour, "\(buckets)")
    }

    // MARK: Exports

    // The oldest events are not read for a range that begins later.
    @Test func anExportBeginsWithItsRange() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        let devices = try await devices(fixture, 1)
        let start = try #require(Timestamp(rfc3339: "2026-01-01T00:00:00Z"))
        try await admin.script(
            """
            TRUNCATE gateway.event_batch, gateway.event_position;
            INSERT INTO gateway.event_batch (tenant_id, last, at, day, count, app_id, kind, devices)
                SELECT 'acme', n * 4, timestamptz '2026-01-01 00:00:00+00' + n * interval '1 minute', 20454 + n / 1440, 4, 'shop',
                    'token_invalidated', ARRAY['\(devices[0].device)'::uuid]
                FROM generate_series(1, 20000) AS n;
            INSERT INTO gateway.event_position (tenant_id, last, day) VALUES ('acme', 80000, 20467);
            """
        )
        let bounds = try await fixture.queries.eventBounds(in: fixture.acme)
        #expect(bounds.first == 0 && bounds.head == 80_000)
        for minute: Int64 in [-5, 0, 1, 777, 10_000, 19_990, 20_000, 30_000] {
            let time = start + .seconds(minute * 60)
            let found = try await fixture.queries.eventOffset(before: time, in: bounds, of: fixture.acme)
            // The events of a minute before the range end here.
            let exact = min(max(0, (minute - 1) * 4), 80_000)
            #expect(found <= exact && found >= exact - 1004, "\(minute): \(found), not \(exact)")
        }
    }

    @Test func retentionKeepsPartitionsThatAreNotCounted() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        _ = try await devices(fixture, 1)
        try await countAll(fixture)
        let today = Int32(clamping: try await fixture.now().seconds / 86_400)
        func drop() async throws -> Int {
            let sql = "SELECT gateway.drop_event_partitions($1, $2) AS count"
            return try await admin.query(sql, [.int32(today + 1), .int32(0)]).only().int("count")
        }
        _ = try await fixture.register("late", token: "abcd")
        _ = try await drop()
        #expect(try await fixture.log().count == 2)
        try await countAll(fixture)
        _ = try await drop()
        #expect(try await fixture.log().isEmpty)
    }
}
