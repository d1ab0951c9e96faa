import Commands
import DeliveryEngine
import Model

/// The rules of `SubscriptionStore`, and of `WebhookStore` for webhooks, run against every implementation. The world must have both.
package enum SubscriptionContract {
    /// Every rule; each wants a world of its own.
    package static let rules: [ContractRule] = [
        ContractRule("a webhook hears everything that happens from now on, in order") { world in
            try await world.withDesk { desk, findings in
                let before = try await world.register(world.newKey())
                let id = try await desk.create()
                let after = try await world.register(world.newKey())
                let message = try await world.suppressedMessage(count: 2)
                guard let lease = try await desk.claim(id).first else { return findings.expect(false, "no lease") }
                findings.equal(lease.url, "https://a.example/", "url")
                findings.equal(lease.secret, .sealed(SealedSecret(keyID: "k", bytes: [1, 2, 3])), "secret")
                let batch = try await desk.webhooks.batch(for: lease, limit: 100)
                let kinds = batch.events.map(\.kind).sorted()
                findings.equal(kinds, ["accepted", "registered", "suppressed", "suppressed"], "kinds")
                let offsets = batch.events.map(\.offset)
                findings.equal(offsets, Array((lease.cursor + 1)...(lease.cursor + 4)), "offsets")
                findings.expect(batch.events.allSatisfy { $0.identity != before?.identity }, "an older event")
                let registered = batch.events.first { $0.kind == "registered" }
                findings.equal(registered?.identity, after?.identity, "identity")
                findings.equal(registered?.device, after?.device, "device")
                findings.equal(registered?.address, after.map { .deviceKey($0.key) }, "address of an identity")
                let suppressed = batch.events.filter { $0.kind == "suppressed" }
                findings.equal(Set(suppressed.map(\.message)), [message], "messages")
                findings.equal(Set(suppressed.map(\.reason)), ["noDevice"], "reasons")
                findings.equal(
                    Set(suppressed.map(\.address)),
                    [.phone("01090000"), .phone("01090001")],
                    "addresses"
                )
                findings.equal(batch.hasMore, false, "more")
                _ = try await desk.webhooks.advance(lease, to: batch.cursor, by: "n1")
                findings.equal(try await desk.claim(id).count, 0, "claims when all is told")
            }
        },
        ContractRule("an app that registers again as it was is no news, one that comes back is") { world in
            try await world.withDesk { desk, findings in
                let id = try await desk.create()
                let key = world.newKey()
                _ = try await world.register(key)
                _ = try await world.register(key)
                _ = try await world.run(.unregister(world.scope, .key(key), at: world.now()))
                _ = try await world.run(.unregister(world.scope, .key(key), at: world.now()))
                _ = try await world.register(key)
                let kinds = try await desk.told(id)
                findings.equal(kinds, ["registered", "unregistered", "registered"], "kinds")
            }
        },
        ContractRule("a token that the push service condemns is news, once") { world in
            try await world.withDesk { desk, findings in
                let token = world.newToken()
                guard let device = try await world.register(world.newKey(), token: token)?.device else {
                    return findings.expect(false, "not registered")
                }
                let id = try await desk.create()
                let doubtful = TokenVerdict.doubtful(device, token, reason: "BadDeviceToken")
                try await world.deliveries.condemn([doubtful, doubtful], tenant: world.tenant)
                let dead = TokenVerdict.dead(device, token, since: nil)
                try await world.deliveries.condemn([dead], tenant: world.tenant)
                try await world.deliveries.condemn([dead, doubtful], tenant: world.tenant)
                let kinds = try await desk.told(id)
                findings.equal(kinds, ["token_quarantined", "token_invalidated"], "kinds")
            }
        },
        ContractRule("a canceled message is news of the message") { world in
            try await world.withDesk { desk, findings in
                let message = world.message(to: [], dueIn: .seconds(3600))
                _ = try await world.accept(message)
                let id = try await desk.create()
                _ = try await world.run(.control(world.scope, message.id, .cancel, by: nil, at: world.now()))
                _ = try await world.run(.control(world.scope, message.id, .cancel, by: nil, at: world.now()))
                findings.equal(try await desk.told(id), ["message_canceled"], "kinds")
            }
        },
        ContractRule("what a webhook does not want is passed over, and its cursor with it") { world in
            try await world.withDesk { desk, findings in
                let id = try await desk.create(EventFilter(kinds: ["registered"]))
                let elsewhere = try await desk.create(EventFilter(app: "another"))
                _ = try await world.suppressedMessage(count: 3)
                for webhook in [id, elsewhere] {
                    guard let lease = try await desk.claim(webhook).first else {
                        return findings.expect(false, "no lease")
                    }
                    let batch = try await desk.webhooks.batch(for: lease, limit: 2)
                    findings.equal(batch.count, 0, "entries")
                    findings.equal(batch.cursor, lease.cursor + 4, "cursor")
                    findings.equal(batch.hasMore, false, "more")
                    _ = try await desk.webhooks.advance(lease, to: batch.cursor, by: "n1")
                }
                _ = try await world.register(world.newKey())
                findings.equal(try await desk.told(id), ["registered"], "kinds")
                findings.equal(try await desk.told(elsewhere), [], "kinds of another app")
            }
        },
        ContractRule("many events come in batches without a gap, to one node at a time") { world in
            try await world.withDesk { desk, findings in
                let id = try await desk.create()
                _ = try await world.suppressedMessage(count: 4)
                var offsets: [Int64] = []
                for _ in 0..<3 {
                    guard let lease = try await desk.claim(id, by: "n1").first else {
                        return findings.expect(false, "no lease")
                    }
                    findings.equal(try await desk.claim(id, by: "n2").count, 0, "claims while it is leased")
                    let batch = try await desk.webhooks.batch(for: lease, limit: 2)
                    findings.equal(batch.hasMore, offsets.count < 3, "more")
                    offsets += batch.events.map(\.offset)
                    findings.equal(
                        try await desk.webhooks.advance(lease, to: batch.cursor, by: "n2"),
                        false,
                        "advance by another node"
                    )
                    _ = try await desk.webhooks.advance(lease, to: batch.cursor, by: "n1")
                }
                guard let first = offsets.first else { return findings.expect(false, "no events") }
                findings.equal(offsets, Array(first..<(first + 5)), "offsets")
            }
        },
        ContractRule("a replay tells again from its offset, and takes the lease from who is calling") { world in
            try await world.withDesk { desk, findings in
                let id = try await desk.create()
                _ = try await world.suppressedMessage(count: 2)
                guard let lease = try await desk.claim(id).first else { return findings.expect(false, "no lease") }
                let batch = try await desk.webhooks.batch(for: lease, limit: 10)
                let moved = try await desk.store.replay(id, from: lease.cursor + 1, in: world.tenant)
                findings.equal(moved, .moved, "replay")
                findings.equal(
                    try await desk.webhooks.advance(lease, to: batch.cursor, by: "n1"),
                    false,
                    "advance of the lease that the replay ended"
                )
                guard let again = try await desk.claim(id).first else { return findings.expect(false, "no lease") }
                let repeated = try await desk.webhooks.batch(for: again, limit: 10)
                findings.equal(repeated.events, Array(batch.events.dropFirst()), "events after the replay")
                let outside = try await desk.store.replay(id, from: batch.cursor + 1, in: world.tenant)
                guard case .outside(let bounds) = outside else { return findings.expect(false, "\(outside)") }
                findings.equal(bounds.head, batch.cursor, "head")
                let unknown = WebhookID(rawValue: world.identifiers.uuid(at: world.now()))
                findings.equal(
                    try await desk.store.replay(unknown, from: bounds.first, in: world.tenant),
                    .unknown,
                    "replay of none"
                )
            }
        },
        ContractRule("a stopped webhook is called again when its tenant says so, with nothing lost") { world in
            try await world.withDesk { desk, findings in
                let id = try await desk.create()
                _ = try await world.suppressedMessage(count: 1)
                guard let lease = try await desk.claim(id).first else { return findings.expect(false, "no lease") }
                try await desk.webhooks.postpone(lease, by: .seconds(600), reason: "status 500", node: "n1")
                findings.equal(try await desk.claim(id).count, 0, "claims before it is due")
                let failing = try await desk.store.webhook(id, in: world.tenant)
                findings.equal(failing?.attempts, 1, "failures")
                findings.equal(failing?.failure, "status 500", "failure")
                try await world.pass(.seconds(601))
                guard let second = try await desk.claim(id).first else { return findings.expect(false, "no lease") }
                findings.equal(second.attempts, 1, "attempts")
                findings.expect(second.failingFor >= .seconds(600), "it is not known how long it fails")
                try await desk.webhooks.stop(second, reason: "timeout", node: "n1")
                try await world.pass(.seconds(100_000))
                findings.equal(try await desk.claim(id).count, 0, "claims while it is stopped")
                let stopped = try await desk.store.webhook(id, in: world.tenant)
                findings.equal(stopped?.isActive, false, "active")
                findings.equal(stopped?.failure, "timeout", "failure")
                findings.equal(stopped?.cursor, lease.cursor, "cursor")
                let change = WebhookChange(url: "https://b.example/", isActive: true)
                findings.equal(try await desk.store.change(id, change, in: world.tenant), true, "change")
                guard let third = try await desk.claim(id).first else { return findings.expect(false, "no lease") }
                findings.equal(third.url, "https://b.example/", "url")
                findings.equal(third.attempts, 0, "attempts after the change")
                findings.equal(third.cursor, lease.cursor, "cursor after the change")
            }
        },
        ContractRule("a tenant has so many webhooks, and each is nobody else's") { world in
            try await world.withDesk { desk, findings in
                let id = try await desk.create()
                let second = try await desk.create(EventFilter(app: "shop", kinds: ["sent"]))
                findings.equal(
                    try await desk.store.create(desk.new(EventFilter()), in: world.tenant, limit: 2),
                    false,
                    "one more than the limit"
                )
                let all = try await desk.store.webhooks(in: world.tenant)
                findings.equal(Set(all.map(\.id)), [id, second], "webhooks")
                let filter = all.first { $0.id == second }?.filter
                findings.equal(filter, EventFilter(app: "shop", kinds: ["sent"]), "filter")
                let other = world.otherTenant
                findings.equal(try await desk.store.webhooks(in: other).count, 0, "webhooks of another")
                findings.equal(try await desk.store.webhook(id, in: other), nil, "one of another")
                let change = WebhookChange(isActive: false)
                findings.equal(try await desk.store.change(id, change, in: other), false, "change by another")
                findings.equal(try await desk.store.remove(id, in: other), false, "removal by another")
                findings.equal(try await desk.store.replay(id, from: 0, in: other), .unknown, "replay by another")
                _ = try await world.register(world.newKey(), in: other)
                findings.equal(try await desk.claim(id).count, 0, "claims for another's events")
                findings.equal(try await desk.store.remove(second, in: world.tenant), true, "removal")
                findings.equal(try await desk.store.webhooks(in: world.tenant).map(\.id), [id], "what is left")
            }
        },
    ]
}

/// Both views of webhooks in a world.
private struct ContractDesk {
    var world: ContractWorld
    var store: any SubscriptionStore
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

    /// The leases on this webhook; what belongs to others stays leased.
    func claim(_ id: WebhookID, by node: NodeID = "n1") async throws -> [WebhookLease] {
        // Leases on others' subscriptions end at once, so that claiming one after another finds each.
        var own: [WebhookLease] = []
        for lease in try await webhooks.claim(limit: 100, by: node, lease: ContractWorld.lease) {
            if lease.tenant == world.tenant, lease.webhook == id {
                own.append(lease)
            } else {
                _ = try await webhooks.advance(lease, to: lease.cursor, by: node)
            }
        }
        return own
    }

    /// The kinds of everything that waits, told.
    func told(_ id: WebhookID) async throws -> [String] {
        guard let lease = try await claim(id).first else { return [] }
        let batch = try await webhooks.batch(for: lease, limit: 100)
        _ = try await webhooks.advance(lease, to: batch.cursor, by: "n1")
        return batch.events.map(\.kind)
    }
}

extension ContractWorld {
    fileprivate func withDesk(
        _ body: (ContractDesk, inout Findings) async throws -> Void
    ) async throws -> [String] {
        guard let webhooks, let subscriptions else { return ["the world has no webhooks"] }
        var findings = Findings()
        try await body(ContractDesk(world: self, store: subscriptions, webhooks: webhooks), &findings)
        return findings.list
    }

    /// A message to phones without the app: each is news at once.
    fileprivate func suppressedMessage(count: Int) async throws -> MessageID {
        var message = message(to: [])
        message.slices = []
        message.recipients = count
        message.suppressed = (0..<count).map { index in
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
