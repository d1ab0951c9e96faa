import DeliveryEngine
import Model
import Testing

@testable import EngineStore
@testable import Store

/// The operations of webhooks, and the rules of `WebhookStore` for webhooks.
@Suite struct SubscriptionRuleTests {
    @Test func aWebhookReceivesLaterEventsInOrder() async throws {
        let world = try await RuleWorld.make()
        try await world.withWebhooks { own in
            let before = try await world.register(world.newKey())
            let id = try await own.create()
            let after = try await world.register(world.newKey())
            let message = try await world.suppressedMessage(count: 2)
            guard let lease = try await own.claim(id).first else { return fail("no lease") }
            #expect(lease.url == "https://a.example/", "url")
            #expect(lease.secret == .sealed(SealedSecret(keyID: "k", bytes: [1, 2, 3])), "secret")
            let batch = try await own.webhooks.batch(for: lease, limit: 100)
            let kinds = batch.events.map(\.kind).sorted()
            #expect(kinds == ["accepted", "registered", "suppressed", "suppressed"], "kinds")
            let offsets = batch.events.map(\.offset)
            #expect(offsets == Array((lease.cursor + 1)...(lease.cursor + 4)), "offsets")
            #expect(batch.events.allSatisfy { $0.subject.identity != before?.identity }, "an older event")
            let registered = batch.events.first { $0.kind == "registered" }
            #expect(registered?.subject.identity == after?.identity, "identity")
            #expect(registered?.subject.device == after?.device, "device")
            #expect(registered?.subject.address == after.map { .deviceKey($0.key) }, "address of an identity")
            let suppressed = batch.events.filter { $0.kind == "suppressed" }
            #expect(Set(suppressed.map(\.subject.message)) == [message], "messages")
            #expect(Set(suppressed.map(\.reason)) == ["noDevice"], "reasons")
            #expect(Set(suppressed.map(\.subject.address)) == [.phone("01090000"), .phone("01090001")], "addresses")
            #expect(batch.hasMore == false, "more")
            _ = try await own.webhooks.advance(lease, to: batch.cursor, by: "n1")
            #expect(try await own.claim(id).count == 0, "claims when all events are delivered")
        }
    }

    @Test func anUnchangedRegistrationCausesNoEventAndAReturnDoes() async throws {
        let world = try await RuleWorld.make()
        try await world.withWebhooks { own in
            let id = try await own.create()
            let key = world.newKey()
            _ = try await world.register(key)
            _ = try await world.register(key)
            _ = try await world.run(UnregisterDevices(world.scope, .key(key)))
            _ = try await world.run(UnregisterDevices(world.scope, .key(key)))
            _ = try await world.register(key)
            let kinds = try await own.delivered(id)
            #expect(kinds == ["registered", "unregistered", "registered"], "kinds")
        }
    }

    @Test func anInvalidTokenCausesOneEvent() async throws {
        let world = try await RuleWorld.make()
        try await world.withWebhooks { own in
            let token = world.newToken()
            guard let device = try await world.register(world.newKey(), token: token)?.device else {
                return fail("not registered")
            }
            let id = try await own.create()
            let doubtful = TokenVerdict.doubtful(device, token, reason: "BadDeviceToken")
            try await world.deliveries.condemn([doubtful, doubtful], tenant: world.tenant)
            let dead = TokenVerdict.dead(device, token, since: nil)
            try await world.deliveries.condemn([dead], tenant: world.tenant)
            try await world.deliveries.condemn([dead, doubtful], tenant: world.tenant)
            let kinds = try await own.delivered(id)
            #expect(kinds == ["token_quarantined", "token_invalidated"], "kinds")
        }
    }

    @Test func cancelingAMessageCausesAnEventOfTheMessage() async throws {
        let world = try await RuleWorld.make()
        try await world.withWebhooks { own in
            let message = world.message(to: [], dueIn: .seconds(3600))
            _ = try await world.accept(message)
            let id = try await own.create()
            _ = try await world.run(ControlMessage(world.scope, message.id, .cancel, by: nil))
            _ = try await world.run(ControlMessage(world.scope, message.id, .cancel, by: nil))
            #expect(try await own.delivered(id) == ["message_canceled"], "kinds")
        }
    }

    @Test func aWebhookSkipsOtherEventsAndItsCursorMoves() async throws {
        let world = try await RuleWorld.make()
        try await world.withWebhooks { own in
            let id = try await own.create(EventFilter(kinds: ["registered"]))
            let elsewhere = try await own.create(EventFilter(app: "another"))
            _ = try await world.suppressedMessage(count: 3)
            for webhook in [id, elsewhere] {
                guard let lease = try await own.claim(webhook).first else {
                    return fail("no lease")
                }
                let batch = try await own.webhooks.batch(for: lease, limit: 2)
                #expect(batch.count == 0, "entries")
                #expect(batch.cursor == lease.cursor + 4, "cursor")
                #expect(batch.hasMore == false, "more")
                _ = try await own.webhooks.advance(lease, to: batch.cursor, by: "n1")
            }
            _ = try await world.register(world.newKey())
            #expect(try await own.delivered(id) == ["registered"], "kinds")
            #expect(try await own.delivered(elsewhere) == [], "kinds of another app")
        }
    }

    @Test func eventsAreDeliveredInBatchesWithoutGapsToOneNodeAtATime() async throws {
        let world = try await RuleWorld.make()
        try await world.withWebhooks { own in
            let id = try await own.create()
            _ = try await world.suppressedMessage(count: 4)
            var offsets: [Int64] = []
            for _ in 0..<3 {
                guard let lease = try await own.claim(id, by: "n1").first else {
                    return fail("no lease")
                }
                #expect(try await own.claim(id, by: "n2").count == 0, "claims while it is leased")
                let batch = try await own.webhooks.batch(for: lease, limit: 2)
                #expect(batch.hasMore == (offsets.count < 3), "more")
                offsets += batch.events.map(\.offset)
                #expect(
                    try await own.webhooks.advance(lease, to: batch.cursor, by: "n2") == false,
                    "advance by another node"
                )
                _ = try await own.webhooks.advance(lease, to: batch.cursor, by: "n1")
            }
            guard let first = offsets.first else { return fail("no events") }
            #expect(offsets == Array(first..<(first + 5)), "offsets")
        }
    }

    @Test func aReplayRepeatsEventsFromItsOffsetAndEndsTheLease() async throws {
        let world = try await RuleWorld.make()
        try await world.withWebhooks { own in
            let id = try await own.create()
            _ = try await world.suppressedMessage(count: 2)
            guard let lease = try await own.claim(id).first else { return fail("no lease") }
            let batch = try await own.webhooks.batch(for: lease, limit: 10)
            let moved = try await own.store.replay(id, from: lease.cursor + 1, in: world.tenant)
            #expect(moved == .moved, "replay")
            #expect(
                try await own.webhooks.advance(lease, to: batch.cursor, by: "n1") == false,
                "advance of the lease that the replay ended"
            )
            guard let again = try await own.claim(id).first else { return fail("no lease") }
            let repeated = try await own.webhooks.batch(for: again, limit: 10)
            #expect(repeated.events == Array(batch.events.dropFirst()), "events after the replay")
            let outside = try await own.store.replay(id, from: batch.cursor + 1, in: world.tenant)
            guard case .outside(let bounds) = outside else { return fail("\(outside)") }
            #expect(bounds.head == batch.cursor, "head")
            let unknown = WebhookID(rawValue: world.identifiers.uuid(at: world.now()))
            #expect(
                try await own.store.replay(unknown, from: bounds.first, in: world.tenant) == .unknown,
                "replay of none"
            )
        }
    }

    @Test func aStoppedWebhookResumesWithoutLosingEvents() async throws {
        let world = try await RuleWorld.make()
        try await world.withWebhooks { own in
            let id = try await own.create()
            _ = try await world.suppressedMessage(count: 1)
            guard let lease = try await own.claim(id).first else { return fail("no lease") }
            try await own.webhooks.postpone(
                lease,
                at: lease.cursor,
                by: .seconds(600),
                reason: "status 500",
                node: "n1"
            )
            #expect(try await own.claim(id).count == 0, "claims before it is due")
            let failing = try await own.store.webhook(id, in: world.tenant)
            #expect(failing?.attempts == 1, "failures")
            #expect(failing?.failure == "status 500", "failure")
            try await world.pass(.seconds(601))
            guard let second = try await own.claim(id).first else { return fail("no lease") }
            #expect(second.attempts == 1, "attempts")
            #expect(second.failingFor >= .seconds(600), "it is not known how long it fails")
            try await own.webhooks.stop(second, reason: "timeout", node: "n1")
            try await world.pass(.seconds(100_000))
            #expect(try await own.claim(id).count == 0, "claims while it is stopped")
            let stopped = try await own.store.webhook(id, in: world.tenant)
            #expect(stopped?.isActive == false, "active")
            #expect(stopped?.failure == "timeout", "failure")
            #expect(stopped?.cursor == lease.cursor, "cursor")
            let change = WebhookChange(url: "https://b.example/", isActive: true)
            #expect(try await own.store.change(id, change, in: world.tenant) == true, "change")
            guard let third = try await own.claim(id).first else { return fail("no lease") }
            #expect(third.url == "https://b.example/", "url")
            #expect(third.attempts == 0, "attempts after the change")
            #expect(third.cursor == lease.cursor, "cursor after the change")
        }
    }

    @Test func webhooksAreLimitedPerTenantAndVisibleToItOnly() async throws {
        let world = try await RuleWorld.make()
        try await world.withWebhooks { own in
            let id = try await own.create()
            let second = try await own.create(EventFilter(app: "shop", kinds: ["sent"]))
            #expect(
                try await own.store.create(own.new(EventFilter()), in: world.tenant, limit: 2) == false,
                "one more than the limit"
            )
            let all = try await own.store.webhooks(in: world.tenant)
            #expect(Set(all.map(\.id)) == [id, second], "webhooks")
            let filter = all.first { $0.id == second }?.filter
            #expect(filter == EventFilter(app: "shop", kinds: ["sent"]), "filter")
            let other = world.otherTenant
            #expect(try await own.store.webhooks(in: other).count == 0, "webhooks of another")
            #expect(try await own.store.webhook(id, in: other) == nil, "one of another")
            let change = WebhookChange(isActive: false)
            #expect(try await own.store.change(id, change, in: other) == false, "change by another")
            #expect(try await own.store.remove(id, in: other) == false, "removal by another")
            #expect(try await own.store.replay(id, from: 0, in: other) == .unknown, "replay by another")
            _ = try await world.register(world.newKey(), in: other)
            #expect(try await own.claim(id).count == 0, "claims for another's events")
            #expect(try await own.store.remove(second, in: world.tenant) == true, "removal")
            #expect(try await own.store.webhooks(in: world.tenant).map(\.id) == [id], "what is left")
        }
    }
}

/// The tenant's view and the dispatcher's view of webhooks in one world.
private struct WebhookWorld {
    var world: RuleWorld
    var store: SubscriptionActs
    var webhooks: any WebhookStore

    func new(_ filter: EventFilter) -> NewWebhook {
        NewWebhook(
            id: WebhookID(rawValue: world.identifiers.uuid(at: world.now())),
            url: "https://a.example/",
            filter: filter,
            secret: SealedSecret(keyID: "k", bytes: [1, 2, 3]),
            isActive: true
        )
    }

    func create(_ filter: EventFilter = EventFilter()) async throws -> WebhookID {
        let webhook = new(filter)
        _ = try await store.create(webhook, in: world.tenant, limit: 100)
        return webhook.id
    }

    /// Claims due webhooks and returns the leases of this webhook. Leases of others are kept.
    func claim(_ id: WebhookID, by node: NodeID = "n1") async throws -> [WebhookLease] {
        // The test ends leases on other subscriptions at once, so claiming repeatedly finds each.
        var own: [WebhookLease] = []
        for lease in try await webhooks.claim(limit: 100, by: node, lease: RuleWorld.lease) {
            if lease.tenant == world.tenant, lease.webhook == id {
                own.append(lease)
            } else {
                _ = try await webhooks.advance(lease, to: lease.cursor, by: node)
            }
        }
        return own
    }

    /// Delivers all pending events and returns their kinds.
    func delivered(_ id: WebhookID) async throws -> [String] {
        guard let lease = try await claim(id).first else { return [] }
        let batch = try await webhooks.batch(for: lease, limit: 100)
        _ = try await webhooks.advance(lease, to: batch.cursor, by: "n1")
        return batch.events.map(\.kind)
    }
}

extension RuleWorld {
    fileprivate func withWebhooks(
        _ body: (WebhookWorld) async throws -> Void
    ) async throws {
        try await body(WebhookWorld(world: self, store: subscriptions, webhooks: webhooks))
    }

    /// A message to phones without the app. Each target causes an event at once.
    fileprivate func suppressedMessage(count: Int) async throws -> MessageID {
        var message = message(to: [])
        message.targets.slices = []
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
