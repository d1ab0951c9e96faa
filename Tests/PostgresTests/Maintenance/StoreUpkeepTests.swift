import DatabaseSupport
import DeliveryEngine
import Foundation
import Model
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// Partitions, retention, the checks of `doctor`, and devices as the native API shows them.
@Suite struct StoreUpkeepTests {
    private func plan(_ fixture: StoreFixture, _ sql: String) async throws -> String {
        let admin = try await fixture.database.admin()
        return try await admin.query("EXPLAIN (COSTS OFF) \(sql)").map { try $0.text(0) }.joined(separator: "\n")
    }

    @Test func aLookUpByDueDayReadsOnePartition() async throws {
        let fixture = try await StoreFixture.make()
        let day = try await fixture.now().day
        let sql = """
            SELECT * FROM gateway.delivery
            WHERE tenant_id = 'acme' AND due_day = \(day) AND message_id = gen_random_uuid()
            """
        let text = try await plan(fixture, sql)
        #expect(text.matches(of: /delivery_w[0-9]+/).allSatisfy { $0.0 == "delivery_w\(day / 7)" })
        #expect(text.contains("delivery_w\(day / 7)") && !text.contains("delivery_default"))
    }

    /// Receipts must not touch an index, because a million of them would bloat every index. Eight updates fit into
    /// the space that the fill factor leaves free on the page, also while an older snapshot prevents the page from
    /// being pruned.
    @Test func receiptsAreHeapOnlyUpdates() async throws {
        let fixture = try await StoreFixture.alone()
        var identities: [IdentityID] = []
        for index in 10..<60 {
            identities.append(try await fixture.register(VendorDeviceKey("k\(index)"), token: "aa\(index)").identity)
        }
        let (message, lease) = try await fixture.sending(to: identities)
        let progress = try await fixture.progress(lease, Array(identities.indices))
        _ = try await fixture.delivery.record(progress, by: fixture.node)
        let admin = try await fixture.database.admin()
        let snapshot = try await OpenTransaction(
            fixture.database,
            "SELECT txid_current()",
            isolation: "REPEATABLE READ"
        )
        let receipts = 8
        for index in 10..<(10 + receipts) {
            _ = try await fixture.receipt(message.id, VendorDeviceKey("k\(index)"), .received)
        }
        await fixture.call.close()
        try await snapshot.end()
        let sql = """
            SELECT sum(pg_stat_get_tuples_updated(oid))::bigint AS updates,
                sum(pg_stat_get_tuples_hot_updated(oid))::bigint AS hot
            FROM pg_class WHERE relname ~ '^delivery_w' AND relkind = 'r'
            """
        var row = try await admin.query(sql).only()
        // Statistics arrive after the session that produced them has ended.
        try await eventually("the statistics contain all receipts", every: .milliseconds(50)) {
            _ = try await admin.query("SELECT pg_stat_clear_snapshot()")
            row = try await admin.query(sql).only()
            return try row.int("updates") >= receipts
        }
        #expect(try row.int("updates") == receipts)
        #expect(try row.int("hot") == receipts)
    }

    @Test func futurePartitionsAreCreatedOnceAndOldOnesDropped() async throws {
        let fixture = try await StoreFixture.alone()
        let keeper = PostgresMaintenance(engine: fixture.engine, node: fixture.node)
        let today = try await fixture.now().day
        let policy = RetentionPolicy(deliveries: .seconds(7 * 86400), weeksAhead: 12)
        let first = try await keeper.run(policy)
        #expect(first.isLeader && first.partitionsMade > 0 && first.partitionsDropped > 0)
        let status = try await fixture.status.status()
        #expect(status.coveredUntilDay >= today + 12 * 7 && status.defaultPartitionRows == 0)
        let again = try await keeper.run(policy)
        #expect(again.partitionsMade <= 1 && again.partitionsDropped <= 1)
        #expect(try await !PostgresMaintenance(engine: fixture.engine, node: "node-2").run(policy).isLeader)
    }

    /// Upkeep unregisters an identity whose end time has passed, once, and no other; an identity that meanwhile set a
    /// later end stays.
    @Test func anIdentityPastItsEndIsUnregistered() async throws {
        let fixture = try await StoreFixture.alone()
        let now = Int(try await fixture.now().seconds)
        let ends: [(String, JSON?)] = [
            ("over", .int(now - 60)), ("later", .int(now + 3600)), ("words", "soon"), ("none", nil),
            ("renewed", .int(now - 60)),
        ]
        func register(_ key: String, _ end: JSON?) async throws {
            _ = try await fixture.register(
                VendorDeviceKey(key),
                token: "aa\(key.utf8.count)\(key.utf8.first ?? 0)",
                endingAt: end
            )
        }
        for (key, end) in ends { try await register(key, end) }
        try await register("renewed", .int(now + 3600))
        let keeper = PostgresMaintenance(engine: fixture.engine, node: fixture.node)
        #expect(try await keeper.run().identitiesEnded == 1)
        #expect(try await keeper.run().identitiesEnded == 0)
        let admin = try await fixture.database.admin()
        let sql = """
            SELECT string_agg(key, ',' ORDER BY key) AS gone FROM gateway.identity
            WHERE tenant_id = 'acme' AND state = 'unregistered' AND key IN ('over', 'later', 'words', 'none', 'renewed')
            """
        #expect(try await admin.query(sql).only().text("gone") == "over")
        let token = try await admin.query(
            """
            SELECT d.token_state AS state FROM gateway.device d JOIN gateway.identity i USING (tenant_id, device_id)
            WHERE i.tenant_id = 'acme' AND i.key = 'over'
            """
        )
        #expect(try token.only().text("state") == "none")
    }

    /// A message that is reserved for a distant time has its suppressed targets in the default partition. They move
    /// to their week when it is created.
    @Test func rowsInTheDefaultPartitionMoveToTheirWeek() async throws {
        let fixture = try await StoreFixture.alone()
        let target = TargetID(rawValue: UUID())
        let suppressed = SuppressedTarget(
            target: target,
            identity: nil,
            device: nil,
            address: .phone("010"),
            reason: .noDevice
        )
        let message = try await fixture.message(dueIn: .seconds(86400 * 70), suppressed: [suppressed])
        try await fixture.accept(message)
        #expect(try await fixture.status.status().defaultPartitionRows == 1)
        let keeper = PostgresMaintenance(engine: fixture.engine, node: fixture.node)
        _ = try await keeper.run(RetentionPolicy(weeksAhead: 14))
        #expect(try await fixture.status.status().defaultPartitionRows == 0)
        let found = try await fixture.queries.delivery(of: message.id, target: target, in: fixture.acme)
        #expect(found?.snapshot.state == .suppressed)
    }

    @Test func expiredRowsAreRemovedAndTheRestStays() async throws {
        let fixture = try await StoreFixture.alone()
        let key = IdempotencyKey(key: "once", bodyHash: "a")
        let device = try await fixture.register("k1", token: "aa01")
        let message = try await fixture.message(to: [(TargetID(device.identity), nil)], idempotency: key)
        try await fixture.accept(message)
        let progress = try await fixture.progress(fixture.lease(of: message), [0])
        _ = try await fixture.delivery.record(progress, by: fixture.node)
        _ = try await fixture.delivery.heartbeat("dead")
        let keeper = PostgresMaintenance(engine: fixture.engine, node: fixture.node)
        let kept = try await keeper.run()
        #expect(kept.messagesRemoved == 0 && kept.eventsRemoved == 0 && kept.keysExpired == 0 && kept.nodesSwept == 0)
        let admin = try await fixture.database.admin()
        try await admin.script(
            """
            UPDATE gateway.message SET expires_at = now() - interval '1 day';
            \(EventAge.older(by: 8));
            UPDATE gateway.idempotency SET created_at = now() - interval '3 days';
            UPDATE gateway.node SET seen_at = now() + interval '10 minutes' WHERE node_id <> 'dead';
            UPDATE gateway.node SET seen_at = now() - interval '2 minutes' WHERE node_id = 'dead';
            """
        )
        let report = try await keeper.run(RetentionPolicy(messages: .seconds(-1)))
        #expect(report.eventsRemoved == 3 && report.keysExpired == 1 && report.nodesSwept == 1)
        #expect(try await fixture.status.status().nodes.map(\.id) == [fixture.node])
    }

    /// Row-level security prevents many conditions from using an index. One of a million devices must be looked up
    /// without reading all of them.
    @Test func lookupsOfCallersUseAnIndex() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        try await admin.script(
            """
            INSERT INTO gateway.device (tenant_id, device_id, app_id, platform, environment, token, token_state, created_at, seen_at)
                SELECT 'acme', md5(n::text)::uuid, 'shop', 'ios', 'production', 't' || n, 'active', now(), now()
                FROM generate_series(1, 2000) AS n;
            INSERT INTO gateway.identity (tenant_id, identity_id, app_id, vendor, key, device_id, user_id, state, registered_at, created_at)
                SELECT 'acme', md5(n::text)::uuid, 'shop', 'braze', 'k' || n, md5(n::text)::uuid, 'u' || n, 'active', now(), now()
                FROM generate_series(1, 2000) AS n;
            INSERT INTO gateway.user_profile (tenant_id, app_id, vendor, user_id, is_anonymous, attributes, revision, created_at, updated_at)
                SELECT 'acme', 'shop', 'braze', 'u' || n, false, '{}', 1, now(), now() FROM generate_series(1, 2000) AS n;
            INSERT INTO gateway.user_alias (tenant_id, app_id, vendor, label, name, user_id)
                SELECT 'acme', 'shop', 'braze', 'crm', 'a' || n, 'u' || n FROM generate_series(1, 2000) AS n;
            ANALYZE;
            SET ROLE gateway_call;
            SET gateway.tenant = 'acme';
            """
        )
        let scope = AppScope(app: "shop", vendor: .braze)
        let tokens = ["t1", "t2"].map { DeviceToken(stored: $0) }
        let asked: [any StoreOperation] = [
            FindProfiles(scope, [.alias(UserAlias(label: "crm", name: "a1")), .id("u2")]),
            FindKnownTokens(scope, tokens), ResolveUsers(scope, ["u1", "u2"], by: .names, limit: 10),
            FindRecipients(scope, .everyone(tokens: tokens), limit: 10),
            FindRecipients(scope, .groups(["g"], tokens: tokens), limit: 10),
        ]
        for operation in asked {
            let statement = operation.statement(StoreCall(tenant: fixture.acme, node: fixture.node))
            let explain = "EXPLAIN (COSTS OFF) \(statement.sql)"
            let lines = try await admin.query(explain, statement.parameters).map { try $0.text(0) }
            let text = lines.joined(separator: "\n")
            let scan = /Scan.* on (device|identity|user_profile|user_alias)\b/
            let scans = lines.indices.filter { lines[$0].contains(scan) }
            #expect(!scans.isEmpty, "\(text)")
            for place in scans {
                let condition = lines[place...].dropFirst().first { $0.contains("Index Cond") } ?? ""
                let isLookUp = condition.contains(/\b(token_digest|device_id|user_id|name) =/)
                #expect(!lines[place].contains("Seq Scan") && isLookUp, "\(lines[place]) of\n\(text)")
            }
        }
    }

    /// Without statistics the planner assumes that the app of a tenant has no rows in the table.
    @Test func aTableThatGrewTenfoldIsAnalyzed() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        let maintenance = PostgresMaintenance(engine: fixture.engine, node: "n")
        try await admin.script("ALTER TABLE gateway.user_profile SET (autovacuum_enabled = off)")
        let estimate = """
            SELECT c.reltuples::bigint AS n FROM pg_class c
            WHERE c.relname = 'user_profile' AND c.relnamespace = 'gateway'::regnamespace
            """
        func fill(_ first: Int, _ last: Int) async throws {
            try await admin.script(
                """
                INSERT INTO gateway.user_profile
                    (tenant_id, app_id, vendor, user_id, is_anonymous, attributes, revision, created_at, updated_at)
                SELECT 'acme', 'shop', 'braze', 'u' || n, false, '{}', 1, now(), now() FROM generate_series(\(first), \(last)) AS n;
                SELECT pg_stat_force_next_flush();
                """
            )
        }
        try await fill(1, 400)
        _ = try await maintenance.analyzeGrown()
        #expect(try await admin.query(estimate).only().int("n") == -1)
        try await fill(401, 600)
        #expect(try await maintenance.analyzeGrown() == 1)
        #expect(try await admin.query(estimate).only().int("n") == 600)
        #expect(try await maintenance.analyzeGrown() == 0)
        // The growth is less than tenfold.
        try await fill(601, 2000)
        #expect(try await maintenance.analyzeGrown() == 0)
    }

    @Test func requiredServerSettingsAreReported() async throws {
        let fixture = try await StoreFixture.make()
        let settings = try await fixture.status.settings()
        #expect(settings["full_page_writes"] == "on" && settings["synchronous_commit"] == "on")
        #expect(settings["fsync"] != nil)
    }

    @Test func theBacklogCountsDueSlices() async throws {
        let fixture = try await StoreFixture.alone()
        let message = try await fixture.message(
            slices: [NewSlice(number: 0, work: .deliver, targets: [TargetID(rawValue: UUID())])],
            leased: false
        )
        try await fixture.accept(message)
        let status = try await fixture.status.status()
        #expect(status.backlog == [.transactional: 1] && status.oldestDue != nil && !status.partitions.isEmpty)
    }

    @Test func devicesAreListedPatchedAndErased() async throws {
        let fixture = try await StoreFixture.make()
        for index in 1...3 {
            try await fixture.register(VendorDeviceKey("k\(index)"), token: "aa0\(index)", phone: "01\(index)")
        }
        let all = try await fixture.devices.devices(in: fixture.acme, app: nil, after: nil, limit: 10)
        #expect(all.count == 3)
        let page = try await fixture.devices.devices(in: fixture.acme, app: "shop", after: all[0].id, limit: 1)
        #expect(page.map(\.id) == [all[1].id])

        let change = DevicePatch(acceptsPush: false, user: "kim", name: "Kim")
        guard case .done(let patched?) = try await fixture.patch(all[0].id, change, in: fixture.acme) else {
            Issue.record("not patched")
            return
        }
        #expect(patched.identities.first?.acceptsPush == false && patched.identities.first?.user == "kim")
        #expect(patched.identities.first?.phone == all[0].identities.first?.phone)
        #expect(try await fixture.patch(DeviceID(UUID()), change, in: fixture.acme) == .done(nil))

        let identity = try #require(all[0].identities.first?.id)
        let (message, lease) = try await fixture.sending(to: [identity], addresses: [.phone("011")])
        var progress = try await fixture.progress(lease, [0])
        progress.results[0].device = all[0].id
        progress.results[0].user = "kim"
        _ = try await fixture.delivery.record(progress, by: fixture.node)
        let inbox = try await fixture.devices.inbox(of: all[0].id, in: fixture.acme, before: nil, limit: 5)
        #expect(inbox.map(\.entry.notification.message) == [message.id] && inbox.first?.app == "shop")

        let tester = AuditActor.key("tester")
        #expect(try await fixture.erase(all[0].id, in: fixture.acme, by: tester) == .done(true))
        #expect(try await fixture.erase(all[0].id, in: fixture.acme, by: tester) == .done(false))
        let left = try await fixture.queries.delivery(of: message.id, target: TargetID(identity), in: fixture.acme)
        #expect(
            left?.snapshot.state == .sent && left?.user == nil && left?.snapshot.address == nil && left?.device == nil
        )
        _ = try await fixture.patch(all[1].id, DevicePatch(user: "lee"), in: fixture.acme)
        #expect(try await fixture.eraseUser("lee", in: fixture.acme, by: tester) == .done(1))
        #expect(try await fixture.eraseUser("lee", in: fixture.acme, by: tester) == .done(0))
        #expect(try await fixture.ask(FindApp(fixture.scope))?.identityCount == 1)
    }

    @Test func aVendorsOwnNumberLeadsToItsMessage() async throws {
        let fixture = try await StoreFixture.alone()
        let message = try await fixture.message()
        try await fixture.accept(message)
        let admin = try await fixture.database.admin()
        _ = try await admin.query(
            """
            INSERT INTO gateway.message_ref (tenant_id, app_id, vendor, ref, message_id)
            VALUES ('acme', 'shop', 'upmc', '4711', '\(message.id)')
            """
        )
        #expect(try await fixture.queries.message("4711", in: fixture.acme)?.id == message.id)
        #expect(try await fixture.queries.message("4711", in: fixture.other) == nil)
        #expect(try await fixture.queries.message("4712", in: fixture.acme) == nil)
    }

    @Test func aPageOfDeliveriesContinuesAfterTheLastTarget() async throws {
        let fixture = try await StoreFixture.alone()
        let identities = (0..<5).map { _ in IdentityID(UUID()) }
        let (message, lease) = try await fixture.sending(to: identities)
        _ = try await fixture.delivery.record(
            try await fixture.progress(lease, [0, 1, 2], disposition: .goOn),
            by: fixture.node
        )
        let failed = try await fixture.progress(lease, [3], .failed, disposition: .goOn)
        _ = try await fixture.delivery.record(failed, by: fixture.node)
        let first = try await fixture.queries.deliveries(of: message.id, in: fixture.acme, limit: 3)
        let rest = try await fixture.queries.deliveries(
            of: message.id,
            in: fixture.acme,
            after: first.last?.snapshot.target,
            limit: 3
        )
        #expect(Set((first + rest).map(\.snapshot.target)).count == 4 && rest.count == 1)
        #expect((first + rest).map(\.snapshot.target) == (first + rest).map(\.snapshot.target).sorted())
        let bad = try await fixture.queries.deliveries(of: message.id, in: fixture.acme, state: .failed, limit: 3)
        #expect(bad.map(\.snapshot.reason) == ["BadDeviceToken"] && bad.first?.transport == "apns")
        let open = try await fixture.queries.delivery(
            of: message.id,
            target: TargetID(identities[4]),
            in: fixture.acme
        )
        #expect(open?.snapshot.state == .queued && open?.snapshot.isReserved == false)
    }
}
