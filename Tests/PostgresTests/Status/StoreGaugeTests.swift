import DatabaseSupport
import DeliveryEngine
import Foundation
import Model
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// The samples of the queue and the server for the metrics.
@Suite struct StoreGaugeTests {
    private let timeLimit = Duration.seconds(400)

    @Test func anEmptyQueueIsAllZeros() async throws {
        let fixture = try await StoreFixture.alone()
        let gauges = try await fixture.status.queueGauges(within: timeLimit)
        #expect(gauges.lanes.isEmpty)
        let none = QueueGauges.Lag(largestEvents: 0, largestSeconds: 0, failing: 0, failingSeconds: 0, stopped: 0)
        #expect(gauges.webhooks == none && gauges.senders == none)
        #expect(gauges.credentialsStopped == 0 && gauges.nodesAlive == 0)
        let stock = try await fixture.status.stockGauges(within: timeLimit)
        #expect(stock.slicesGivenUp == 0 && stock.defaultPartitionRows == 0)
        #expect(stock.weeksAhead >= 3)
    }

    @Test func dueUnclaimedSlicesAreCountedWithTheirAge() async throws {
        let fixture = try await StoreFixture.alone()
        let device = try await fixture.register("key", token: "aabb")
        let (message, _) = try await fixture.sending(to: [device.identity])
        // Leased slices do not count as waiting.
        #expect(try await fixture.status.queueGauges(within: timeLimit).lanes.isEmpty)
        let admin = try await fixture.database.admin()
        try await admin.script("UPDATE gateway.slice SET next_at = now() - interval '100 seconds'")
        let due = try await fixture.status.queueGauges(within: timeLimit).lanes
        #expect(due.count == 1)
        #expect(due.values.first?.slices == 1)
        #expect((100..<1600).contains(due.values.first?.oldestSeconds ?? 0))
        try await admin.script("UPDATE gateway.slice SET state = 'ready', owner = NULL, dead_reason = 'attempts'")
        #expect(try await fixture.status.stockGauges(within: timeLimit).slicesGivenUp == 1)
        try await admin.script("UPDATE gateway.lane SET is_paused = true")
        #expect(try await fixture.status.queueGauges(within: timeLimit).lanes.isEmpty)
        _ = message
    }

    @Test func nodesAndStoppedCredentialsAreCounted() async throws {
        let fixture = try await StoreFixture.alone()
        _ = try await fixture.delivery.heartbeat("a")
        _ = try await fixture.delivery.heartbeat("b")
        let admin = try await fixture.database.admin()
        try await admin.script(
            """
            UPDATE gateway.node SET seen_at = now() + interval '10 minutes' WHERE node_id = 'a';
            UPDATE gateway.node SET seen_at = now() - interval '1 minute' WHERE node_id = 'b';
            UPDATE gateway.credential SET refusal = 'InvalidProviderToken' WHERE tenant_id = 'acme';
            """
        )
        let gauges = try await fixture.status.queueGauges(within: timeLimit)
        #expect(gauges.nodesAlive == 1 && gauges.credentialsStopped == 1)
    }

    @Test func subscribersThatLagOrFailAreCounted() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        try await admin.script(
            """
            INSERT INTO gateway.webhook (tenant_id, webhook_id, url, sealed, key_id, cursor, failing_since)
                VALUES ('acme', gen_random_uuid(), 'https://a', '', 'k', 8, now() - interval '90 seconds');
            INSERT INTO gateway.webhook (tenant_id, webhook_id, url, sealed, key_id, cursor, is_active, failure)
                VALUES ('acme', gen_random_uuid(), 'https://b', '', 'k', 1, false, 'gone');
            INSERT INTO gateway.sender (tenant_id, app_id, vendor, sender_id, name, callback_url)
                VALUES ('acme', 'shop', 'rationalowl', 's', 's', 'https://c');
            INSERT INTO gateway.event_position VALUES ('acme', 1200, 1);
            INSERT INTO gateway.event_batch (tenant_id, last, count, at, day, kind, app_id, vendor, sender_id)
                SELECT 'acme', 400 * n, 400, now() - interval '5 minutes', floor(extract(epoch FROM now()) / 86400), 'sent', 'shop',
                    'rationalowl', 's' FROM generate_series(1, 3) n;
            """
        )
        let gauges = try await fixture.status.queueGauges(within: timeLimit)
        #expect(gauges.webhooks.largestEvents == 1192)
        #expect((300..<360).contains(gauges.webhooks.largestSeconds))
        #expect(gauges.webhooks.failing == 1 && gauges.webhooks.stopped == 1)
        #expect((90..<150).contains(gauges.webhooks.failingSeconds))
        #expect(gauges.senders.largestEvents == 1000)
        #expect((300..<360).contains(gauges.senders.largestSeconds))
    }

    /// The engine's role on its own would see only its own sessions.
    @Test func anotherRolesOldTransactionIsSeen() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        let sleeper = Task {
            try await admin.script("BEGIN; SELECT count(*) FROM pg_class; SELECT pg_sleep(30); COMMIT")
        }
        var gauges = try await fixture.status.queueGauges(within: timeLimit)
        try await eventually("the gauges show the transaction", every: .milliseconds(100)) {
            gauges = try await fixture.status.queueGauges(within: timeLimit)
            return gauges.oldestTransactionSeconds >= 0.5
        }
        #expect(gauges.seesAllSessions)
        #expect(gauges.xminAge >= 0)
        sleeper.cancel()
        _ = try? await sleeper.value
    }

    /// The statement, which runs every 15 seconds, must not read the whole table, however many slices exist.
    @Test func theQueueIsSampledByIndexProbes() async throws {
        let fixture = try await StoreFixture.alone()
        let admin = try await fixture.database.admin()
        try await admin.script(
            """
            INSERT INTO gateway.lane SELECT 'acme', n FROM generate_series(0, 3) n ON CONFLICT DO NOTHING;
            INSERT INTO gateway.message (tenant_id, message_id, app_id, vendor, state, lane, content, accepted_at, due_at, due_day, expires_at)
                SELECT 'acme', gen_random_uuid(), 'shop', 'native', 'done', 2, '{}', now(), now(), 1, now()
                FROM generate_series(1, 5000);
            INSERT INTO gateway.slice (tenant_id, message_id, no, lane, kind, due_day, state, next_at)
                SELECT tenant_id, message_id, 0, 2, 'deliver', 1, 'done', now() FROM gateway.message;
            ANALYZE gateway.slice;
            """
        )
        let plan = try await admin.query("EXPLAIN \(GaugeSQL.queue.text)").map { try $0.text(0) }
            .joined(separator: "\n")
        #expect(plan.contains("slice_next") && !plan.contains("Seq Scan on slice"), "\(plan)")
        let rare = try await admin.query("EXPLAIN \(GaugeSQL.givenUp.text)").map { try $0.text(0) }
            .joined(separator: "\n")
        #expect(rare.contains("Index Scan using slice_"), "\(rare)")
    }
}
