import DatabaseSupport
import Foundation
import Model
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// Maintenance next to readers and writers that hold locks, and with more rows than one step removes.
@Suite struct StoreMaintenanceTests {
    /// The longest time for which a call may wait for a lock.
    private static let bearable = 0.3

    private func keeper(_ fixture: StoreFixture) -> PostgresMaintenance {
        PostgresMaintenance(engine: fixture.engine, node: fixture.node)
    }

    private func count(_ fixture: StoreFixture, _ rows: String) async throws -> Int {
        try await fixture.database.admin().query("SELECT count(*) AS n FROM gateway.\(rows)").only().int("n")
    }

    /// Accepts messages that are due now, and messages of a week without a partition, until the sign is set. Each has a suppressed delivery.
    private func writer(_ fixture: StoreFixture, until sign: StopSign) -> Task<Int, any Error> {
        Task {
            var count = 0
            while !sign.isSet {
                let suppressed = SuppressedTarget(
                    target: TargetID(rawValue: UUID()),
                    identity: nil,
                    device: nil,
                    address: .phone("010"),
                    reason: .noDevice
                )
                let delay = count.isMultiple(of: 2) ? Duration.zero : .seconds(86_400 * 100)
                try await fixture.accept(try await fixture.message(dueIn: delay, suppressed: [suppressed]))
                count += 1
            }
            return count
        }
    }

    // MARK: Partitions

    /// With `LONG`, the reader stays for a minute.
    @Test func aPartitionChangeDoesNotQueueBehindAReader() async throws {
        let fixture = try await StoreFixture.alone()
        let time = Duration.seconds(ProcessInfo.processInfo.environment["LONG"] == nil ? 3 : 60)
        let policy = RetentionPolicy(deliveries: .seconds(7 * 86400), weeksAhead: 12)
        let reader = try await OpenTransaction(
            fixture.database,
            "SELECT count(*) FROM gateway.delivery",
            isolation: "REPEATABLE READ"
        )
        let watch = try await LockWatch(fixture.database)
        let sign = StopSign()
        let writer = writer(fixture, until: sign)
        let end = ContinuousClock.now + time
        repeat {
            let report = try await keeper(fixture).changePartitions(policy)
            #expect(report.changesWaiting == 2 && report.failures == [])
            #expect(report.partitionsDropped == 0)
        } while ContinuousClock.now < end
        sign.set()
        #expect(try await writer.value > 0)
        #expect(try await watch.end() < Self.bearable)
        try await reader.end()
        let report = try await keeper(fixture).changePartitions(policy)
        #expect(report.changesWaiting == 0 && report.failures == [])
        // The week of the writer's later messages got a partition too.
        #expect(report.partitionsMade >= 8 && report.partitionsDropped >= 1)
        #expect(try await fixture.status.status().defaultPartitionRows == 0)
    }

    @Test func aPartitionChangeHappensBetweenShortTransactions() async throws {
        let fixture = try await StoreFixture.alone()
        let watch = try await LockWatch(fixture.database)
        let sign = StopSign()
        let writers = (0..<3).map { _ in writer(fixture, until: sign) }
        let policy = RetentionPolicy(deliveries: .seconds(7 * 86400), weeksAhead: 12)
        var (made, dropped) = (0, 0)
        try await eventually("the partitions are changed", within: .seconds(60)) {
            let report = try await keeper(fixture).changePartitions(policy)
            #expect(report.failures == [])
            made += report.partitionsMade
            dropped += report.partitionsDropped
            return report.changesWaiting == 0
        }
        sign.set()
        for writer in writers { #expect(try await writer.value > 0) }
        #expect(made >= 7 && dropped >= 1)
        #expect(try await watch.end() < Self.bearable)
    }

    /// A detached week is a table without rights until it is dropped.
    @Test func anExpiredWeekIsDroppedWhole() async throws {
        let fixture = try await StoreFixture.alone()
        let weeks =
            "pg_class WHERE relnamespace = 'gateway'::regnamespace AND relname ~ '^(delivery_w|event_batch_d)[0-9]+$' AND relkind = 'r'"
        let admin = try await fixture.database.admin()
        func tables() async throws -> Int {
            try await admin.query("SELECT count(*) AS n FROM \(weeks)").only().int("n")
        }
        let before = try await tables()
        let report = try await keeper(fixture).changePartitions(RetentionPolicy(deliveries: .seconds(7 * 86400)))
        #expect(report.partitionsDropped >= 1)
        #expect(try await tables() == before + report.partitionsMade - report.partitionsDropped)
    }

    // MARK: The default partition

    private static let fill = """
        INSERT INTO gateway.delivery (tenant_id, due_day, message_id, target_id, app_id, vendor, state)
            SELECT 'acme', %1 + n % 7, md5('m' || n / 500)::uuid, md5(%1 || 't' || n)::uuid, 'shop', 'rationalOwl', 'suppressed'
            FROM generate_series(1, %2) AS n;
        """

    private func fill(_ fixture: StoreFixture, _ week: Int32, _ count: Int) async throws {
        let sql = Self.fill.replacing("%1", with: "\(week * 7)").replacing("%2", with: "\(count)")
        try await fixture.database.admin().script(sql)
    }

    /// Too many rows for one transaction: they are copied in steps, and what is written meanwhile is not lost.
    @Test func manyRowsMoveToTheirWeeksInSteps() async throws {
        let fixture = try await StoreFixture.alone()
        let week = try await fixture.now().day / 7
        let (past, future, later) = (week - 5, week + 20, week + 21)
        try await fill(fixture, past, 12_000)
        try await fill(fixture, future, 8000)
        try await fill(fixture, later, 100)
        try await fill(fixture, week + 80, 50)
        let watch = try await LockWatch(fixture.database)
        let admin = try await fixture.database.admin()
        // A receipt for each row, and new rows.
        let sign = StopSign()
        let receipts = Task {
            var count = 0
            while !sign.isSet, count < 12_000 {
                count += 1
                let row = """
                    tenant_id = 'acme' AND due_day = \(past * 7 + Int32(count % 7)) AND message_id = md5('m\(count / 500)')::uuid
                    AND target_id = md5('\(past * 7)t\(count)')::uuid
                    """
                let result = try await admin.query("UPDATE gateway.delivery SET received_at = now() WHERE \(row)")
                #expect(result.affectedRows == 1)
                _ = try await admin.query(
                    """
                    INSERT INTO gateway.delivery (tenant_id, due_day, message_id, target_id, app_id, vendor, state)
                    VALUES ('acme', \(future * 7), gen_random_uuid(), gen_random_uuid(), 'shop', 'rationalOwl', 'sent')
                    """
                )
            }
            return count
        }
        var made = 0
        try await eventually("the rows are moved", within: .seconds(90)) {
            let report = try await keeper(fixture).changePartitions()
            #expect(report.failures == [])
            made += report.partitionsMade
            let left = try await fixture.status.status().defaultPartitionRows
            return report.changesWaiting == 0 && left == 50
        }
        sign.set()
        let written = try await receipts.value
        #expect(try await watch.end() < Self.bearable)
        #expect(made >= 3 && written > 0)
        // Rows of a distant week stay.
        #expect(try await fixture.status.status().defaultPartitionRows == 50)
        #expect(try await count(fixture, "delivery_w\(past)") == 12_000)
        #expect(try await count(fixture, "delivery_w\(past) WHERE received_at IS NOT NULL") == written)
        #expect(try await count(fixture, "delivery_w\(future)") == 8000 + written)
        #expect(try await count(fixture, "delivery_w\(later)") == 100)
        #expect(try await count(fixture, "delivery") == 20_150 + written)
        // The new default partition is like the first one.
        try await fill(fixture, week + 81, 10)
        #expect(try await fixture.status.status().defaultPartitionRows == 60)
    }

    /// Their week was dropped, or never existed: no partition takes them along.
    @Test func expiredRowsOfTheDefaultPartitionAreDeleted() async throws {
        let fixture = try await StoreFixture.alone()
        let week = try await fixture.now().day / 7
        try await fill(fixture, week - 30, 20)
        try await fill(fixture, week - 5, 20)
        let report = try await keeper(fixture).run()
        #expect(report.deliveriesRemoved == 20 && report.failures == [])
        #expect(try await fixture.status.status().defaultPartitionRows == 0)
        #expect(try await count(fixture, "delivery") == 20)
    }

    // MARK: Expired rows

    @Test func aStepThatFailsForOneTenantStopsNoOther() async throws {
        let fixture = try await StoreFixture.alone()
        for tenant in [fixture.acme, fixture.other] {
            let key = IdempotencyKey(key: "once", bodyHash: "a")
            try await fixture.accept(try await fixture.message(idempotency: key), in: tenant)
        }
        let admin = try await fixture.database.admin()
        try await admin.script(
            """
            \(EventAge.older(by: 9));
            UPDATE gateway.idempotency SET created_at = now() - interval '3 days';
            UPDATE gateway.audit SET hash = NULL;
            INSERT INTO gateway.audit (tenant_id, at, actor, action, subject, position)
                SELECT t, now() - interval '2 years', 'a', 'b', 'c', 1000000 + n FROM unnest(ARRAY['acme', 'other']) t, generate_series(1, 3) n;
            """
        )
        let holder = try await OpenTransaction(
            fixture.database,
            "SELECT 1 FROM gateway.idempotency WHERE tenant_id = 'acme' FOR UPDATE"
        )
        let report = try await keeper(fixture).run()
        #expect(report.failures.map(\.step) == [.keys] && report.failures.map(\.tenant) == [fixture.acme])
        #expect(report.failures.first?.error.code == .conflict)
        #expect(report.keysExpired == 1 && report.eventsRemoved == 2 && report.auditRemoved == 4)
        try await holder.end()
        let next = try await keeper(fixture).run()
        #expect(next.keysExpired == 1 && next.failures == [])
    }

    private func expireMessages(_ fixture: StoreFixture, _ tenant: TenantID, _ count: Int) async throws {
        try await fixture.database.admin().script(
            """
            INSERT INTO gateway.message (tenant_id, message_id, app_id, vendor, state, lane, content, accepted_at, due_at, due_day, expires_at)
                SELECT '\(tenant)', ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'shop', 'rationalOwl', 'done', 0, '{}',
                    now() - interval '300 days', now() - interval '300 days', 0, now() - interval '299 days'
                FROM generate_series(1, \(count)) AS n
            """
        )
    }

    @Test func aBacklogIsGoneAfterOneRound() async throws {
        let fixture = try await StoreFixture.alone()
        try await expireMessages(fixture, fixture.acme, 50_000)
        try await expireMessages(fixture, fixture.other, 3)
        let report = try await keeper(fixture).run()
        #expect(report.messagesRemoved == 50_003 && report.isComplete && report.failures == [])
    }

    /// The tenant with the backlog comes first in the alphabet.
    @Test func tenantsTakeTurns() async throws {
        let fixture = try await StoreFixture.alone()
        try await expireMessages(fixture, fixture.acme, 30_000)
        try await expireMessages(fixture, fixture.other, 1500)
        let admin = try await fixture.database.admin()
        let left = "SELECT count(*) AS n FROM gateway.message WHERE tenant_id = 'other'"
        let round = Task { try await keeper(fixture).run() }
        try await eventually("the other tenant's messages are removed") {
            try await admin.query(left).only().int("n") == 0
        }
        #expect(try await count(fixture, "message WHERE tenant_id = 'acme'") > 0)
        #expect(try await round.value.messagesRemoved == 31_500)
    }

    @Test func aRoundEndsWithItsTime() async throws {
        let fixture = try await StoreFixture.alone()
        try await expireMessages(fixture, fixture.acme, 3)
        let report = try await keeper(fixture).run(within: .zero)
        #expect(!report.isComplete && report.messagesRemoved == 0)
        #expect(try await keeper(fixture).run().messagesRemoved == 3)
    }

    // MARK: Media

    private func put(_ fixture: StoreFixture) async throws -> Int {
        try await fixture.ask(
            PutMedia(hash: "h", contentType: "image/png", bytes: [1], at: try await fixture.now())
        )
    }

    private static let age = "UPDATE gateway.media SET created_at = now() - interval '200 days'"

    @Test func anImageThatAnAcceptanceReusesIsNotSwept() async throws {
        let fixture = try await StoreFixture.alone()
        let message = try await fixture.message()
        try await fixture.accept(message)
        let admin = try await fixture.database.admin()
        #expect(try await put(fixture) == 1)
        try await admin.script(Self.age)
        let call = try await OpenTransaction(
            fixture.database,
            """
            SET LOCAL ROLE gateway_call;
            SET LOCAL gateway.tenant = 'acme';
            SELECT gateway.put_media('acme', 'h', 'image/png', '\\x01', now());
            INSERT INTO gateway.message_media (tenant_id, message_id, media_id, hash) VALUES ('acme', '\(message.id)', 'm', 'h')
            """
        )
        #expect(try await keeper(fixture).run().failures == [])
        try await call.end()
        #expect(try await count(fixture, "media") == 1)
        // As long as a message shows it, it stays, and is not examined again in the next round.
        try await admin.script(Self.age)
        #expect(try await keeper(fixture).run().mediaSwept == 1)
        #expect(try await keeper(fixture).run().mediaSwept == 0)
        #expect(try await count(fixture, "media") == 1)
        try await admin.script("DELETE FROM gateway.message_media; \(Self.age)")
        #expect(try await keeper(fixture).run().mediaSwept == 1)
        #expect(try await count(fixture, "media") == 0)
    }

    /// The sweep has the image's lock first: the acceptance waits and stores it again.
    @Test func anImageThatIsBeingSweptIsStoredAgain() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        #expect(try await put(fixture) == 1)
        try await admin.script(Self.age)
        let sweep = try await OpenTransaction(
            fixture.database,
            "SELECT gateway.sweep_media('acme', interval '100 days', 100)"
        )
        let stored = Task { try await put(fixture) }
        try await eventually("the acceptance waits") {
            let waits = "SELECT count(*) AS n FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'"
            return try await admin.query(waits).only().int("n") > 0
        }
        try await sweep.end()
        #expect(try await stored.value == 1)
        #expect(try await count(fixture, "media") == 1)
        #expect(try await put(fixture) == 0)
    }
}
