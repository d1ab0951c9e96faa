import DatabaseSupport
import DeliveryEngine
import Foundation
import Model
import TestKit
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// Subscriptions: events in order, none skipped, one caller at a time.
@Suite struct StoreWebhookTests {
    private func subscribed() async throws -> StoreFixture {
        let fixture = try await StoreFixture.alone()
        _ = try await fixture.ask(RegisterSender(fixture.scope, name: "backend", id: "S1"))
        #expect(try await fixture.ask(SetCallback(fixture.scope, "S1", url: "https://example.com/cb")) == 1)
        return fixture
    }

    private func send(_ fixture: StoreFixture, _ key: VendorDeviceKey, sender: SenderID? = "S1") async throws
        -> NewMessage
    {
        let device = try await fixture.register(key, token: "aa0\(key.rawValue.suffix(1))")
        let (message, lease) = try await fixture.sending(to: [device.identity], sender: sender)
        _ = try await fixture.delivery.record(try await fixture.progress(lease, [0]), by: fixture.node)
        return message
    }

    private func claim(_ fixture: StoreFixture, by node: NodeID = "node-1") async throws -> [WebhookLease] {
        try await fixture.webhooks.claim(limit: 10, by: node, lease: .seconds(600))
    }

    @Test func eventsAreClaimedOnceAndOnlyAdvanceMovesTheCursor() async throws {
        let fixture = try await subscribed()
        #expect(try await claim(fixture).isEmpty)
        let first = try await send(fixture, "k1")
        let second = try await send(fixture, "k2")
        _ = try await send(fixture, "k3", sender: "S2")
        _ = try await fixture.receipt(first.id, "k1", .read)

        let lease = try #require(try await claim(fixture).first)
        #expect(lease.url == "https://example.com/cb" && lease.attempts == 0)
        guard case .sender("S1", "shop", .rationalOwl, let settings) = lease.subscriber else {
            Issue.record("another subscriber: \(lease.subscriber)")
            return
        }
        #expect(settings["compat"]?.string == "legacy")
        #expect(try await claim(fixture, by: "node-2").isEmpty)
        let page = try await fixture.webhooks.batch(for: lease, limit: 2)
        #expect(page.deliveries.map(\.message) == [first.id, second.id] && page.hasMore)
        // The page shows the current state of the delivery, not its state at the time of that event.
        #expect(page.deliveries.first?.state == .read)
        let all = try await fixture.webhooks.batch(for: lease, limit: 10)
        #expect(all.deliveries.count == 2 && !all.hasMore)
        #expect(try await !fixture.webhooks.advance(lease, to: all.cursor, by: "node-2"))
        #expect(try await fixture.webhooks.advance(lease, to: page.cursor, by: "node-1"))
        let rest = try #require(try await claim(fixture, by: "node-2").first)
        #expect(rest.cursor == page.cursor && rest.epoch == lease.epoch + 1)
        #expect(try await !fixture.webhooks.advance(lease, to: all.cursor, by: "node-1"))
        let tail = try await fixture.webhooks.batch(for: rest, limit: 10)
        #expect(tail.deliveries.map(\.message) == [first.id])
        #expect(try await fixture.webhooks.advance(rest, to: tail.cursor, by: "node-2"))
        #expect(try await claim(fixture).isEmpty)
    }

    /// A target that the caller did not name is named by its phone number, or otherwise by its device id
    /// (docs/contracts/rationalowl.md#8.6).
    @Test func targetsOfAnAudienceAreNamedByPhoneOrDeviceID() async throws {
        let fixture = try await subscribed()
        let message = try await send(fixture, "k1")
        _ = try await send(fixture, "k2")
        let admin = try await fixture.database.admin()
        _ = try await admin.query("UPDATE gateway.delivery SET address = NULL")
        _ = try await admin.query(
            "UPDATE gateway.identity SET phone = CASE WHEN key = 'k1' THEN '01011112222' END WHERE tenant_id = $1",
            [.text("acme")]
        )
        let lease = try #require(try await claim(fixture).first)
        let batch = try await fixture.webhooks.batch(for: lease, limit: 10)
        #expect(batch.deliveries.map(\.address) == [.phone("01011112222"), .deviceKey("k2")])
        #expect(batch.deliveries.first?.message == message.id)
    }

    // The dispatcher learns from this that nothing waits any longer.
    @Test func theChoiceIsAskedForAlsoWhenNothingIsDue() async throws {
        let fixture = try await subscribed()
        let looks = Tally()
        let leases = try await fixture.webhooks.claim(limit: 10, by: "node-1", lease: .seconds(600)) { due in
            looks.add(1)
            return Array(due.indices)
        }
        #expect(leases.isEmpty && looks.value == 1)
    }

    @Test func nodesThatClaimConcurrentlyGetOneLease() async throws {
        let fixture = try await subscribed()
        _ = try await send(fixture, "k1")
        let leases = try await withThrowingTaskGroup(of: [WebhookLease].self) { group in
            for node in 0..<6 { group.addTask { try await claim(fixture, by: NodeID("n\(node)")) } }
            return try await group.reduce(into: [WebhookLease]()) { $0 += $1 }
        }
        #expect(leases.count == 1)
    }

    @Test func aFailedCallIsRetriedLaterAndKeepsTheTimeOfTheFirstFailure() async throws {
        let fixture = try await subscribed()
        _ = try await send(fixture, "k1")
        var lease = try #require(try await claim(fixture).first)
        try await fixture.webhooks.postpone(lease, at: lease.cursor, by: .seconds(60), reason: "500", node: "node-1")
        #expect(try await claim(fixture).isEmpty)
        let admin = try await fixture.database.admin()
        _ = try await admin.query(
            "UPDATE gateway.sender SET next_at = now(), failing_since = now() - interval '10 seconds'"
        )
        lease = try #require(try await claim(fixture).first)
        #expect(lease.attempts == 1 && lease.failingFor >= .seconds(10) && lease.failingFor < .seconds(60))
        try await fixture.webhooks.postpone(lease, at: lease.cursor, by: .zero, reason: "500", node: "node-1")
        lease = try #require(try await claim(fixture).first)
        #expect(lease.attempts == 2 && lease.failingFor >= .seconds(10))
        #expect(try await fixture.webhooks.advance(lease, to: lease.cursor, by: "node-1"))
        lease = try #require(try await claim(fixture).first)
        #expect(lease.attempts == 0 && lease.failingFor == .zero)
    }

    @Test func aWebhookIsClaimedWithItsOrder() async throws {
        let fixture = try await StoreFixture.alone()
        for order in WebhookOrder.allCases {
            let webhook = NewWebhook.example(order: order)
            #expect(try await fixture.subscriptions.create(webhook, in: fixture.acme, limit: 2))
            try await fixture.register(VendorDeviceKey("k-\(order.rawValue)"), token: "aa01")
            #expect(try await fixture.subscriptions.webhook(webhook.id, in: fixture.acme)?.order == order)
        }
        let leases = try await claim(fixture)
        #expect(Set(leases.map(\.order)) == [.log, .device])
    }

    /// A program of schema 42 creates webhooks without an order.
    @Test func theOrderOfAWebhookIsThatOfTheLogUnlessNamed() async throws {
        let fixture = try await StoreFixture.alone()
        let id = WebhookID(rawValue: UUID())
        let old = StoreSQL.function("create_webhook", 9, columns: "create_webhook AS created")
        let statement = old(
            .id(fixture.acme),
            .id(id),
            .string("https://a.example/"),
            .null,
            .strings([]),
            .bytes([1]),
            .string("k"),
            .bool(true),
            .int32(1)
        )
        #expect(try await fixture.call.run(statement, tenant: fixture.acme.rawValue).only().bool("created"))
        #expect(try await fixture.subscriptions.webhook(id, in: fixture.acme)?.order == .log)
    }

    @Test func aFailureAfterProgressMovesTheCursorAndIsTheFirstOne() async throws {
        let fixture = try await StoreFixture.alone()
        let webhook = NewWebhook.example(order: .device)
        #expect(try await fixture.subscriptions.create(webhook, in: fixture.acme, limit: 1))
        for index in 0..<4 { try await fixture.register(VendorDeviceKey("k\(index)"), token: "aa0\(index)") }
        let admin = try await fixture.database.admin()
        var lease = try #require(try await claim(fixture).first)
        let start = lease.cursor
        // The offset reached, and the failures and the cursor afterwards. A lower offset does not move the cursor back.
        for (reached, attempts, cursor) in [
            (start, 1, start), (start, 2, start), (start + 2, 1, start + 2), (0, 2, start + 2),
        ] {
            try await fixture.webhooks.postpone(lease, at: reached, by: .zero, reason: "503", node: "node-1")
            lease = try #require(try await claim(fixture).first)
            #expect(lease.attempts == attempts && lease.cursor == cursor)
            #expect(attempts == 1 ? lease.failingFor < .seconds(1800) : lease.failingFor >= .seconds(3600))
            _ = try await admin.query("UPDATE gateway.webhook SET failing_since = now() - interval '1 hour'")
        }
        let left = try await fixture.webhooks.batch(for: lease, limit: 10)
        #expect(left.events.map(\.offset) == [start + 3, start + 4])
    }

    @Test func aRemovedCallbackEndsItsLeaseAndANewOneStartsNow() async throws {
        let fixture = try await subscribed()
        _ = try await send(fixture, "k1")
        let lease = try #require(try await claim(fixture).first)
        #expect(try await fixture.ask(SetCallback(fixture.scope, "S1", url: nil)) == 1)
        #expect(try await !fixture.webhooks.advance(lease, to: 99, by: "node-1"))
        #expect(try await fixture.ask(SetCallback(fixture.scope, "S1", url: "https://example.com/2")) == 1)
        #expect(try await claim(fixture).isEmpty)
        let later = try await send(fixture, "k2")
        let next = try #require(try await claim(fixture).first)
        #expect(try await fixture.webhooks.batch(for: next, limit: 10).deliveries.map(\.message) == [later.id])
    }
}
