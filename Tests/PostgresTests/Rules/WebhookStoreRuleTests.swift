import Model
import TestKit
import Testing

@testable import EngineStore
@testable import Store

/// The rules of `WebhookStore`.
@Suite struct WebhookStoreRuleTests {
    @Test func aSubscriptionWithEventsIsClaimedByOneNodeAtATime() async throws {
        let world = try await RuleWorld.make()
        try await world.withSubscription { store, sender in
            #expect(try await world.claims(store, "n1", of: sender).count == 0, "claims without events")
            _ = try await world.news(of: sender, count: 1)
            let first = try await world.claims(store, "n1", of: sender)
            #expect(first.map(\.url) == ["https://a.example/"], "urls")
            #expect(first.map(\.attempts) == [0], "attempts")
            #expect(first.map(\.secret) == [.derived], "secrets")
            #expect(try await world.claims(store, "n2", of: sender).count == 0, "claims while it is leased")
            try await world.pass(RuleWorld.lease + .seconds(1))
            let second = try await world.claims(store, "n2", of: sender)
            #expect(second.count == 1, "claims after the lease ended")
            guard let old = first.first, let new = second.first else { return }
            #expect(new.epoch > old.epoch, "the epoch did not grow")
            #expect(try await store.advance(old, to: 1_000_000, by: "n1") == false, "advance of a lost lease")
        }
    }

    @Test func eventsAreDeliveredOnceInOrderAndInBatches() async throws {
        let world = try await RuleWorld.make()
        try await world.withSubscription { store, sender in
            let first = try await world.news(of: sender, count: 2)
            let second = try await world.news(of: sender, count: 1)
            guard let lease = try await world.claims(store, "n1", of: sender).first else {
                return fail("no lease")
            }
            let batch = try await store.batch(for: lease, limit: 2)
            #expect(batch.deliveries.map(\.message) == [first, first], "messages of the first batch")
            #expect(batch.hasMore == true, "more behind the first batch")
            #expect(batch.deliveries.map(\.state) == [.suppressed, .suppressed], "states")
            #expect(try await store.advance(lease, to: batch.cursor, by: "n1") == true, "advance")
            guard let next = try await world.claims(store, "n1", of: sender).first else {
                return fail("advancing did not end the lease")
            }
            let rest = try await store.batch(for: next, limit: 2)
            #expect(rest.deliveries.map(\.message) == [second], "messages of the second batch")
            #expect(rest.hasMore == false, "more behind the second batch")
            _ = try await store.advance(next, to: rest.cursor, by: "n1")
            #expect(try await world.claims(store, "n1", of: sender).count == 0, "claims when all events are delivered")
        }
    }

    @Test func aFailedCallIsRetriedLaterAndCountedUntilASuccess() async throws {
        let world = try await RuleWorld.make()
        try await world.withSubscription { store, sender in
            _ = try await world.news(of: sender, count: 1)
            guard let lease = try await world.claims(store, "n1", of: sender).first else {
                return fail("no lease")
            }
            try await store.postpone(lease, at: lease.cursor, by: .seconds(600), reason: "status 500", node: "n1")
            #expect(try await world.claims(store, "n1", of: sender).count == 0, "claims before it is due")
            try await world.pass(.seconds(601))
            guard let again = try await world.claims(store, "n1", of: sender).first else {
                return fail("no lease after the wait")
            }
            #expect(again.attempts == 1, "attempts")
            #expect(again.cursor == lease.cursor, "cursor")
            #expect(again.failingFor >= .seconds(600), "it is not known how long it fails")
            _ = try await store.advance(again, to: lease.cursor, by: "n1")
            let fresh = try await world.claims(store, "n1", of: sender).first
            #expect(fresh?.attempts == 0, "attempts after one was taken")
            #expect(fresh?.failingFor == .zero, "failing time after one was taken")
        }
    }

    @Test func aSenderReceivesEventsOfItsOwnMessagesOnly() async throws {
        let world = try await RuleWorld.make()
        try await world.withSubscription { store, sender in
            _ = try await world.run(RegisterSender(world.scope, name: "other", id: "SVR-other"))
            _ = try await world.news(of: "SVR-other", count: 1)
            #expect(try await world.claims(store, "n1", of: sender).count == 0, "claims")
        }
    }
}

extension RuleWorld {
    /// A sender with a callback, and the store under test.
    fileprivate func withSubscription(
        _ body: (any WebhookStore, SenderID) async throws -> Void
    ) async throws {
        let sender = SenderID("SVR-" + identifiers.randomHex(byteCount: 8))
        _ = try await run(RegisterSender(scope, name: sender.rawValue, id: sender))
        _ = try await run(SetCallback(scope, sender, url: "https://a.example/"))
        try await body(webhooks, sender)
    }

    /// Claims due subscriptions and returns the leases of `sender`. Leases of others are kept.
    fileprivate func claims(
        _ store: any WebhookStore,
        _ node: NodeID,
        of sender: SenderID
    ) async throws -> [WebhookLease] {
        try await store.claim(limit: 100, by: node, lease: Self.lease).filter {
            $0.tenant == tenant && $0.sender == sender
        }
    }

    /// A message of `sender` to phones without the app. Each target causes an event at once.
    fileprivate func news(of sender: SenderID, count: Int) async throws -> MessageID {
        var message = message(to: [])
        message.targets.slices = []
        message.sender = sender
        message.targets.recipients = count
        message.targets.suppressed = (0..<count).map { index in
            let address = Address.phone("0109000\(index)")
            return SuppressedTarget(
                target: identifiers.target(for: address, in: message.id),
                identity: nil,
                device: nil,
                address: address,
                reason: .noDevice
            )
        }
        _ = try await accept(message)
        return message.id
    }
}
