import DatabaseSupport
import DeliveryEngine
import Foundation
import Model
import TestKit
import Testing

@testable import DatabaseSchema
@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// The storage of the event log: batches, their positions, and their removal.
@Suite struct StoreEventBatchTests {
    /// The call of `log_events` for app `shop` and sender `S1`, with arrays as SQL.
    private func log(
        _ kinds: String,
        messages: String = "ARRAY[gen_random_uuid()]",
        targets: String = "NULL",
        before: String = "NULL",
        reasons: String = "NULL",
        tenant: TenantID
    ) -> String {
        """
        SELECT gateway.log_events('\(tenant)', 'shop', 'rationalowl', 'S1', \(kinds), \(messages), ARRAY[20000], \(targets), \(before), \(reasons))
        """
    }

    private func targets(_ count: Int) -> String { "ARRAY(SELECT gen_random_uuid() FROM generate_series(1, \(count)))" }

    private func batches(_ admin: PostgresConnection, _ tenant: TenantID) async throws -> [String] {
        let rows = try await admin.query(
            """
            SELECT concat_ws(' ', kind, last, count, cardinality(messages), cardinality(targets), coalesce(before, '-'),
                array_to_string(reasons, ',', '-'), sender_id) AS line
            FROM gateway.event_batch WHERE tenant_id = $1 ORDER BY last
            """,
            [.id(tenant)]
        )
        return try rows.map { try $0.text("line") }
    }

    // MARK: Writing

    @Test func oneFlushIsOneRowPerKind() async throws {
        let fixture = try await StoreFixture.make()
        let devices = (0..<250).map { _ in IdentityID(UUID()) }
        let (message, lease) = try await fixture.sending(to: devices, sender: "S1")
        var progress = try await fixture.progress(lease, Array(0..<250))
        for index in 240..<250 {
            progress.results[index].state = .failed
            progress.results[index].reason = "BadDeviceToken"
        }
        _ = try await fixture.delivery.record(progress, by: fixture.node)
        let admin = try await fixture.database.admin()
        let lines = try await batches(admin, fixture.acme)
        #expect(lines == ["accepted 1 1 1 -", "sent 241 240 1 240 - S1", "failed 251 10 1 10 - BadDeviceToken S1"])
        let events = try await fixture.log()
        #expect(events.map(\.offset) == Array(1...251))
        #expect(events.dropFirst().map(\.subject.target) == devices.map { TargetID($0) })
        #expect(events.allSatisfy { $0.subject.message == message.id })
        #expect(events.last?.reason == "BadDeviceToken" && events[1].reason == nil && events[1].sender == "S1")
    }

    @Test func eventsOfOneTransactionHaveTheOrderOfADeliverysLife() async throws {
        let fixture = try await StoreFixture.make()
        let admin = try await fixture.database.admin()
        try await admin.script(
            log(
                "ARRAY['read', 'sent', 'failed', 'received', 'sent', 'failed']",
                targets: targets(6),
                before: "ARRAY['received', NULL, NULL, 'sent', NULL, 'sent']",
                reasons: "ARRAY[NULL, NULL, 'Unregistered', NULL, NULL, 'BadTopic']",
                tenant: fixture.acme
            )
        )
        #expect(
            try await batches(admin, fixture.acme) == [
                "sent 2 2 1 2 - S1", "failed 3 1 1 1 - Unregistered S1", "failed 4 1 1 1 sent BadTopic S1",
                "received 5 1 1 1 sent S1", "read 6 1 1 1 received S1",
            ]
        )
        #expect(
            try await fixture.log().map(\.reason) == [nil, nil, "Unregistered", "BadTopic", nil, nil]
        )
    }

    @Test func anArrayOfOneElementAppliesToAllEvents() async throws {
        let fixture = try await StoreFixture.make()
        let admin = try await fixture.database.admin()
        let message = UUID()
        let calls = [
            log(
                "ARRAY['canceled']",
                messages: "ARRAY['\(message)'::uuid]",
                targets: targets(3),
                before: "ARRAY['queued']",
                reasons: "array_fill('late'::text, ARRAY[3])",
                tenant: fixture.acme
            ),
            log("ARRAY['received']", messages: targets(2), targets: targets(2), tenant: fixture.acme),
            log("ARRAY['message_paused']", tenant: fixture.acme),
            log("'{}'", targets: targets(2), tenant: fixture.acme),
        ]
        try await admin.script(calls.joined(separator: ";\n"))
        #expect(
            try await batches(admin, fixture.acme) == [
                "canceled 3 3 1 3 queued late S1", "received 5 2 2 2 - S1", "message_paused 6 1 1 -",
            ]
        )
        let events = try await fixture.log()
        #expect(events.prefix(3).allSatisfy { $0.subject.message == MessageID(message) && $0.reason == "late" })
        let messages = Set(events.map { $0.subject.message })
        let named = Set(events.compactMap { $0.subject.target })
        #expect(messages.count == 4 && named.count == 5)
        #expect(events.last?.sender == nil)
    }

    @Test func longArraysBecomeSeveralRows() async throws {
        let fixture = try await StoreFixture.make()
        let admin = try await fixture.database.admin()
        try await admin.script(log("ARRAY['sent']", targets: targets(1100), tenant: fixture.acme))
        try await admin.script(
            log("ARRAY['read']", messages: targets(200), targets: targets(200), tenant: fixture.acme)
        )
        #expect(
            try await batches(admin, fixture.acme) == [
                "sent 480 480 1 480 - S1", "sent 960 480 1 480 - S1", "sent 1100 140 1 140 - S1",
                "read 1260 160 160 160 - S1", "read 1300 40 40 40 - S1",
            ]
        )
        let sizes = try await admin.query(
            "SELECT max(count) AS count FROM gateway.event_batch WHERE tenant_id = $1",
            [.id(fixture.acme)]
        )
        #expect(try sizes.only().int("count") < StoreSQL.batchLimit)
    }

    @Test func aMessageThatAllEventsHaveIsStoredOnce() async throws {
        let fixture = try await StoreFixture.make()
        let admin = try await fixture.database.admin()
        let message = UUID()
        let messages = "array_fill('\(message)'::uuid, ARRAY[200])"
        try await admin.script(log("ARRAY['read']", messages: messages, targets: targets(200), tenant: fixture.acme))
        #expect(try await batches(admin, fixture.acme) == ["read 200 200 1 200 - S1"])
        let events = try await fixture.log()
        #expect(events.count == 200 && events.allSatisfy { $0.subject.message == MessageID(message) })
        #expect(Set(events.compactMap(\.subject.target)).count == 200)
    }

    @Test func changesAreGroupedByKind() async throws {
        let fixture = try await StoreFixture.make()
        let admin = try await fixture.database.admin()
        try await admin.script(
            """
            SELECT gateway.append_changes('\(fixture.acme)', ARRAY['registered', 'replaced', 'registered'], ARRAY['shop', 'shop', 'shop'],
                ARRAY['upmc', 'upmc', 'upmc'], ARRAY(SELECT gen_random_uuid() FROM generate_series(1, 3)), NULL, NULL);
            SELECT gateway.append_changes('\(fixture.acme)', array_fill('preference_changed'::text, ARRAY[3]), array_fill('shop'::text, ARRAY[3]),
                array_fill('upmc'::text, ARRAY[3]), ARRAY(SELECT gen_random_uuid() FROM generate_series(1, 3)),
                ARRAY(SELECT gen_random_uuid() FROM generate_series(1, 3)), array_fill('{"acceptsPush": false}'::json, ARRAY[3]));
            """
        )
        let rows = try await admin.query(
            "SELECT kind, count, cardinality(data) AS data FROM gateway.event_batch WHERE tenant_id = $1 ORDER BY last",
            [.id(fixture.acme)]
        )
        #expect(try rows.map { try $0.text("kind") } == ["replaced", "registered", "preference_changed"])
        #expect(try rows.map { try $0.int("count") } == [1, 2, 3])
        #expect(try rows.last?.int("data") == 1)
        let events = try await fixture.log()
        #expect(Set(events.compactMap(\.subject.identity)).count == 6)
        #expect(events.suffix(3).allSatisfy { $0.data?["acceptsPush"]?.bool == false && $0.subject.device != nil })
    }

    // MARK: Positions

    @Test func positionsContinueAfterEveryPartitionWasDropped() async throws {
        let fixture = try await StoreFixture.alone()
        for index in 0..<3 { try await fixture.register(VendorDeviceKey("k\(index)"), token: "aa0\(index)") }
        let admin = try await fixture.database.admin()
        let drop = "SELECT gateway.drop_event_partitions(100000, 100000) AS count"
        #expect(try await admin.query(drop).only().int("count") > 0)
        #expect(try await fixture.log().isEmpty)
        #expect(try await fixture.queries.eventBounds(in: fixture.acme) == EventBounds(first: 3, head: 3))
        // Without partitions, events are kept in the default partition.
        try await fixture.register("k3", token: "aa03")
        #expect(try await fixture.log().map(\.offset) == [4])
        #expect(try await fixture.queries.eventBounds(in: fixture.acme) == EventBounds(first: 3, head: 4))
    }

    /// Retention removes whole days. If a later event had an earlier day, the log would get a gap.
    @Test func positionsContinueWhenTheClockIsSetBack() async throws {
        let fixture = try await StoreFixture.alone()
        try await fixture.register("k1", token: "aa01")
        let admin = try await fixture.database.admin()
        // The first event was written by a clock that is now set back by five days.
        try await admin.script("\(EventAge.older(by: -5)); UPDATE gateway.event_position SET day = day + 5")
        try await fixture.register("k2", token: "aa02")
        let rows = try await admin.query(
            "SELECT count(DISTINCT day) AS days, max(last) AS last FROM gateway.event_batch"
        )
        #expect(try rows.only().int("days") == 1 && rows.only().int("last") == 2)
        #expect(try await fixture.queries.eventBounds(in: fixture.acme).head == 2)
    }

    @Test func maintenanceKeepsTheLastPositionOnly() async throws {
        let fixture = try await StoreFixture.alone()
        for index in 0..<3 { try await fixture.register(VendorDeviceKey("k\(index)"), token: "aa0\(index)") }
        try await fixture.register("k1", token: "aa01", in: fixture.other)
        _ = try await PostgresMaintenance(engine: fixture.engine, node: fixture.node).run()
        let admin = try await fixture.database.admin()
        let rows = try await admin.query("SELECT tenant_id, last FROM gateway.event_position ORDER BY 1")
        #expect(try rows.map { try $0.text("tenant_id") } == ["acme", "other"])
        #expect(try rows.map { try $0.int("last") } == [3, 1])
        try await fixture.register("k3", token: "aa03")
        #expect(try await fixture.log().map(\.offset) == [1, 2, 3, 4])
    }

    // MARK: Reading

    @Test func aReaderMayBeginAndEndWithinABatch() async throws {
        let fixture = try await StoreFixture.make()
        let admin = try await fixture.database.admin()
        try await admin.script(
            (0..<3).map { _ in log("ARRAY['sent']", targets: targets(40), tenant: fixture.acme) }.joined(separator: ";")
        )
        let all = try await fixture.log()
        #expect(all.map(\.offset) == Array(1...120) && Set(all.map(\.subject.target)).count == 120)
        var read: [EventRecord] = []
        while let page = try await Optional(
            fixture.queries.events(in: fixture.acme, after: read.last?.offset ?? 0, limit: 7)
        ), !page.events.isEmpty {
            #expect(page.through == page.events.last?.offset && page.head == 120)
            read += page.events
        }
        #expect(read == all)
    }

    /// A page reads at most 10,000 positions, and a batch may begin before the end of that window.
    @Test func aFilteredPageEndsWithItsWindow() async throws {
        let fixture = try await StoreFixture.make()
        let admin = try await fixture.database.admin()
        let window = EventPage.window
        let first = log("ARRAY['sent']", targets: targets(window - 20), tenant: fixture.acme)
        let second = log("ARRAY['failed']", targets: targets(40), tenant: fixture.acme)
        try await admin.script("\(first); \(second)")
        let filter = EventFilter(kinds: ["failed"])
        var page = try await fixture.queries.events(in: fixture.acme, after: 0, limit: 1000, filter: filter)
        #expect(page.events.map(\.offset) == Array(Int64(window - 19)...Int64(window)))
        #expect(page.through == Int64(window))
        page = try await fixture.queries.events(in: fixture.acme, after: page.through, limit: 1000, filter: filter)
        #expect(page.events.map(\.offset) == Array(Int64(window + 1)...Int64(window + 20)))
        page = try await fixture.queries.events(in: fixture.acme, after: 5, limit: 1000, filter: EventFilter(app: "x"))
        #expect(page.events.isEmpty && page.through == Int64(window + 5))
    }

    /// The condition of a page must reach the index of each partition, also under row-level security.
    @Test func aPageReadsTheLogByIndex() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        let calls = (0..<300).map { _ in log("ARRAY['sent']", targets: targets(2), tenant: fixture.acme) }
        try await admin.script(calls.joined(separator: ";\n"))
        try await admin.script("ANALYZE; SET ROLE gateway_call; SET gateway.tenant = 'acme'")
        let statements = EventRow.statements(fixture.acme, EventFilter(), after: 300, limit: 10)
        for statement in statements {
            let lines = try await admin.query("EXPLAIN (COSTS OFF) \(statement.sql)", statement.parameters)
            let text = try lines.map { try $0.text(0) }.joined(separator: "\n")
            #expect(
                !text.contains("Seq Scan on event_batch") && !text.contains("Bitmap Heap Scan on event_batch"),
                "\(text)"
            )
        }
        let lines = try await admin.query(
            "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) \(statements[1].sql)",
            statements[1].parameters
        )
        let text = try lines.map { try $0.text(0) }.joined(separator: "\n")
        let scan = /event_batch_d[0-9]+_pkey on event_batch_d[0-9]+ b.*actual rows=([1-9]|1[01]) loops/
        #expect(text.contains(scan), "\(text)")
    }

    // MARK: Generations

    /// A failover changes the timeline, a restore the database, and a copy of the files the server.
    @Test(arguments: ["timeline = timeline - 1", "database_oid = 1", "system_identifier = 1"])
    func anotherServerDatabaseOrTimelineBeginsAGeneration(_ change: String) async throws {
        let fixture = try await StoreFixture.alone()
        let generation = try await fixture.queries.eventGeneration()
        #expect(try await fixture.queries.eventGeneration() == generation)
        let page = try await fixture.queries.events(in: fixture.acme, after: 0, limit: 1)
        #expect(page.generation == generation)
        let admin = try await fixture.database.admin()
        try await admin.script("UPDATE gateway.log_generation SET \(change)")
        let found = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<6 { group.addTask { try await fixture.queries.eventGeneration() } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(found.count == 1 && !found.contains(generation))
        #expect(try await fixture.queries.events(in: fixture.acme, after: 0, limit: 1).generation == found.first)
    }

    @Test func aWebhookIsCalledWithTheGeneration() async throws {
        let fixture = try await StoreFixture.alone()
        let webhook = NewWebhook.example()
        #expect(try await fixture.subscriptions.create(webhook, in: fixture.acme, limit: 1))
        try await fixture.register("k1", token: "aa01")
        let lease = try #require(try await fixture.webhooks.claim(limit: 1, by: "n", lease: .seconds(60)).first)
        let batch = try await fixture.webhooks.batch(for: lease, limit: 10)
        #expect(try await batch.generation == fixture.queries.eventGeneration() && batch.events.count == 1)
    }

    // MARK: Events of older programs

    /// Rows in `event_single` precede the batches, for every kind of reader.
    @Test func eventsOfOlderProgramsPrecedeTheBatches() async throws {
        let fixture = try await StoreFixture.alone()
        _ = try await fixture.ask(RegisterSender(fixture.scope, name: "backend", id: "S1"))
        #expect(try await fixture.ask(SetCallback(fixture.scope, "S1", url: "https://example.com/cb")) == 1)
        let device = try await fixture.register("k1", token: "aa01")
        let (message, lease) = try await fixture.sending(to: [device.identity], sender: "S1")
        _ = try await fixture.delivery.record(try await fixture.progress(lease, [0]), by: fixture.node)
        let admin = try await fixture.database.admin()
        // The first three events become rows of an older program.
        try await admin.script(
            """
            INSERT INTO gateway.event_single SELECT * FROM gateway.event;
            UPDATE gateway.event_single SET at = now() - interval '5 minutes';
            DELETE FROM gateway.event_batch;
            """
        )
        let old = try await fixture.log()
        #expect(old.map(\.kind) == ["registered", "accepted", "sent"] && old.last?.subject.message == message.id)
        #expect(try await fixture.queries.eventBounds(in: fixture.acme) == EventBounds(first: 0, head: 3))
        let gauges = try await fixture.status.queueGauges(within: .seconds(10))
        #expect(gauges.senders.largestEvents == 1 && (300..<360).contains(gauges.senders.largestSeconds))
        _ = try await fixture.receipt(message.id, "k1", .read)
        #expect(try await fixture.log().map(\.offset) == [1, 2, 3, 4])
        #expect(try await fixture.queries.events(in: fixture.acme, after: 2, limit: 1).events.map(\.kind) == ["sent"])
        let claimed = try #require(
            try await fixture.webhooks.claim(limit: 10, by: "node-1", lease: .seconds(600)).first
        )
        #expect(try await fixture.webhooks.batch(for: claimed, limit: 10).cursor == 4)
        // Retention removes them by their time, and the batches after them.
        try await admin.script(
            "UPDATE gateway.event_single SET at = at - interval '9 days'; \(EventAge.older(by: 9))"
        )
        let keeper = PostgresMaintenance(engine: fixture.engine, node: fixture.node)
        #expect(try await keeper.run().eventsRemoved == 4)
        #expect(try await fixture.queries.eventBounds(in: fixture.acme) == EventBounds(first: 4, head: 4))
    }

    /// Without deleting rows one by one, unless a tenant or a webhook still needs one of them.
    @Test func theTableOfOlderProgramsIsEmptiedAtOnce() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        try await admin.script(
            """
            INSERT INTO gateway.event_single (tenant_id, position, at, kind, app_id)
                SELECT tenant, n, now() - interval '9 days', 'sent', 'shop' FROM unnest(ARRAY['acme', 'other']) AS tenant, generate_series(1, 3) AS n;
            UPDATE gateway.event_single SET at = now() - interval '6 days' WHERE tenant_id = 'other' AND position = 3;
            """
        )
        let today = try await fixture.now().day
        func rows(before day: Int32) async throws -> Int {
            try await admin.script("SELECT gateway.drop_event_partitions(\(day), \(day))")
            return try await admin.query("SELECT count(*) AS n FROM gateway.event_single").only().int("n")
        }
        #expect(try await rows(before: today - 7) == 6)
        #expect(try await rows(before: today - 4) == 0)
    }

    /// Programs of version 42 read the log through views. Their retention changes nothing.
    @Test func aProgramOfVersion42ReadsTheLog() async throws {
        let fixture = try await StoreFixture.alone()
        let device = try await fixture.register("k1", token: "aa01")
        let (_, lease) = try await fixture.sending(to: [device.identity])
        _ = try await fixture.delivery.record(try await fixture.progress(lease, [0], .failed), by: fixture.node)
        let present = try await fixture.log()
        let head = try await fixture.call.run(
            Statement(Version42SQL.head, [.id(fixture.acme)]),
            tenant: fixture.acme.rawValue
        )
        #expect(try head.only().int("last") == 3)
        let parameters: [PostgresValue] = [
            .id(fixture.acme), .int64(0), .int(10_000), .null, .strings([]), .int(10), .null,
        ]
        let rows = try await fixture.call.run(
            Statement(Version42SQL.page, parameters),
            tenant: fixture.acme.rawValue
        )
        #expect(try rows.rows(EventRow.read) == present)
        #expect(try await fixture.call.run(Statement(Version42SQL.page, parameters), tenant: "other").isEmpty)
        let week = PostgresValue.interval(.seconds(7 * 86400))
        let admin = try await fixture.database.admin()
        try await admin.script(EventAge.older(by: 30))
        let removed = try await fixture.engine.run(
            Statement(Version42SQL.dropEvents, [.id(fixture.acme), week, week]),
            tenant: nil
        )
        #expect(removed.affectedRows == 0)
        #expect(try await fixture.log().count == 3)
        let due = try await fixture.engine.run(Statement(Version42SQL.webhooksDue, [.int(5)]), tenant: nil)
        #expect(due.isEmpty)
        #expect(try await fixture.engine.run(Statement(Version42SQL.sendersDue, [.int(5)]), tenant: nil).isEmpty)
    }

    // MARK: Retention

    @Test func aDayIsDroppedWhenNobodyNeedsIt() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        let today = try await fixture.now().day
        try await admin.script("SELECT gateway.make_event_partitions(\(today - 20), 20)")
        let webhook = NewWebhook.example()
        #expect(try await fixture.subscriptions.create(webhook, in: fixture.acme, limit: 1))
        try await fixture.register("k1", token: "aa01")
        try await fixture.register("k1", token: "aa01", in: fixture.other)
        try await admin.script(EventAge.older(by: 9))
        let keeper = PostgresMaintenance(engine: fixture.engine, node: fixture.node)
        // The webhook has not received the event of nine days ago; the other tenant does not wait for it.
        let report = try await keeper.run()
        #expect(report.partitionsDropped == 11 && report.eventsRemoved == 1)
        #expect(try await fixture.queries.eventBounds(in: fixture.acme) == EventBounds(first: 0, head: 1))
        #expect(try await fixture.queries.eventBounds(in: fixture.other) == EventBounds(first: 1, head: 1))
        try await admin.script("UPDATE gateway.webhook SET cursor = 1")
        let later = try await keeper.run()
        #expect(later.partitionsDropped == 2 && later.eventsRemoved == 0)
        #expect(try await fixture.queries.eventBounds(in: fixture.acme) == EventBounds(first: 1, head: 1))
        #expect(try await keeper.run().partitionsDropped == 0)
    }

    /// Writers queue behind a waiting table lock, so it must not wait for long.
    @Test func aPartitionChangeGivesUpSoonBehindAReader() async throws {
        let fixture = try await StoreFixture.alone()
        let (reader, keeper) = (try await fixture.database.admin(), try await fixture.database.admin())
        // A session of its own: if the keeper held the lock, it and the reader would wait for each other, and PostgreSQL would end one of them.
        let holder = try await fixture.database.admin()
        try await holder.script("SELECT pg_advisory_lock(78)")
        let today = try await fixture.now().day
        try await keeper.script("SELECT gateway.make_event_partitions(\(today - 9), 1)")
        // The reader's transaction ends when the test releases the lock.
        async let reading: Void = reader.script(
            "BEGIN; SELECT count(*) FROM gateway.event_batch; SELECT pg_advisory_xact_lock(78); COMMIT"
        )
        let waiting = """
            SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = 78
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            """
        try await eventually("the reader has read") { try await !keeper.query(waiting).isEmpty }
        let make = "SELECT gateway.make_event_partitions(\(today), 20) AS count"
        let drop = "SELECT gateway.drop_event_partitions(\(today - 7), \(today - 7)) AS count"
        // Without a limit, both would wait for the reader, whose transaction does not end.
        #expect(try await keeper.query(make).only().int("count") == 0)
        #expect(try await keeper.query(drop).only().int("count") == 0)
        let limits = try await keeper.query(
            "SELECT proconfig AS settings FROM pg_proc WHERE proname IN ('make_event_partitions', 'drop_event_partitions')"
        )
        for row in limits { #expect(try row.texts("settings").contains("lock_timeout=200ms")) }
        try await holder.script("SELECT pg_advisory_unlock(78)")
        try await reading
        #expect(try await keeper.query(make).only().int("count") > 0)
        #expect(try await keeper.query(drop).only().int("count") == 1)
    }

    // MARK: Migration

    /// A database of version 38 with events keeps them at their offsets, and new events continue from them.
    @Test func migratedEventsKeepTheirOffsets() async throws {
        let database = try await TestCluster.databaseOfVersion38()
        let admin = try await database.admin()
        try await admin.script(
            """
            INSERT INTO gateway.tenant (tenant_id) VALUES ('acme');
            INSERT INTO gateway.event_head VALUES ('acme', 9);
            INSERT INTO gateway.event (tenant_id, position, at, kind, app_id, vendor)
                SELECT 'acme', n, now(), 'sent', 'shop', 'upmc' FROM generate_series(5, 9) AS n;
            """
        )
        try await Migrator.bundled().migrate(admin)
        try await admin.script(log("ARRAY['sent']", targets: targets(2), tenant: "acme"))
        let queries = PostgresQueryStore(call: database.pool(.call))
        let events = try await queries.events(in: "acme", after: 6, limit: 10)
        #expect(events.events.map(\.offset) == [7, 8, 9, 10, 11] && events.head == 11)
        #expect(try await queries.eventBounds(in: "acme") == EventBounds(first: 4, head: 11))
        let partitions = try await admin.query(
            "SELECT count(*) AS n FROM gateway.event_batch WHERE tableoid = 'gateway.event_batch_default'::regclass"
        )
        #expect(try partitions.only().int("n") == 0)
    }
}
