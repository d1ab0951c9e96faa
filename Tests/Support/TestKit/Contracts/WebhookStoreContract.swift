import Commands
import Model

/// The rules of `WebhookStore`, run against every implementation. The world must have `webhooks`.
package enum WebhookStoreContract {
    /// Every rule; each wants a world of its own.
    package static let rules: [ContractRule] = [
        ContractRule("a subscription is claimed when it has news, by one node at a time") { world in
            try await world.withSubscription { store, sender, findings in
                findings.equal(try await world.claims(store, "n1", of: sender).count, 0, "claims without news")
                _ = try await world.news(of: sender, count: 1)
                let first = try await world.claims(store, "n1", of: sender)
                findings.equal(first.map(\.url), ["https://a.example/"], "urls")
                findings.equal(first.map(\.attempts), [0], "attempts")
                findings.equal(first.map(\.secret), [.derived], "secrets")
                findings.equal(try await world.claims(store, "n2", of: sender).count, 0, "claims while it is leased")
                try await world.pass(ContractWorld.lease + .seconds(1))
                let second = try await world.claims(store, "n2", of: sender)
                findings.equal(second.count, 1, "claims after the lease ended")
                guard let old = first.first, let new = second.first else { return }
                findings.expect(new.epoch > old.epoch, "the epoch did not grow")
                findings.equal(try await store.advance(old, to: 1_000_000, by: "n1"), false, "advance of a lost lease")
            }
        },
        ContractRule("news comes in order and in batches, and each is told once") { world in
            try await world.withSubscription { store, sender, findings in
                let first = try await world.news(of: sender, count: 2)
                let second = try await world.news(of: sender, count: 1)
                guard let lease = try await world.claims(store, "n1", of: sender).first else {
                    return findings.expect(false, "no lease")
                }
                let batch = try await store.batch(for: lease, limit: 2)
                findings.equal(batch.deliveries.map(\.message), [first, first], "messages of the first batch")
                findings.equal(batch.hasMore, true, "more behind the first batch")
                findings.equal(batch.deliveries.map(\.state), [.suppressed, .suppressed], "states")
                findings.equal(try await store.advance(lease, to: batch.cursor, by: "n1"), true, "advance")
                guard let next = try await world.claims(store, "n1", of: sender).first else {
                    return findings.expect(false, "advancing did not end the lease")
                }
                let rest = try await store.batch(for: next, limit: 2)
                findings.equal(rest.deliveries.map(\.message), [second], "messages of the second batch")
                findings.equal(rest.hasMore, false, "more behind the second batch")
                _ = try await store.advance(next, to: rest.cursor, by: "n1")
                findings.equal(try await world.claims(store, "n1", of: sender).count, 0, "claims when all is told")
            }
        },
        ContractRule("a failed call comes again later and counts, until one is taken") { world in
            try await world.withSubscription { store, sender, findings in
                _ = try await world.news(of: sender, count: 1)
                guard let lease = try await world.claims(store, "n1", of: sender).first else {
                    return findings.expect(false, "no lease")
                }
                try await store.postpone(lease, by: .seconds(600), reason: "status 500", node: "n1")
                findings.equal(try await world.claims(store, "n1", of: sender).count, 0, "claims before it is due")
                try await world.pass(.seconds(601))
                guard let again = try await world.claims(store, "n1", of: sender).first else {
                    return findings.expect(false, "no lease after the wait")
                }
                findings.equal(again.attempts, 1, "attempts")
                findings.equal(again.cursor, lease.cursor, "cursor")
                findings.expect(again.failingFor >= .seconds(600), "it is not known how long it fails")
                _ = try await store.advance(again, to: lease.cursor, by: "n1")
                let fresh = try await world.claims(store, "n1", of: sender).first
                findings.equal(fresh?.attempts, 0, "attempts after one was taken")
                findings.equal(fresh?.failingFor, .zero, "failing time after one was taken")
            }
        },
        ContractRule("another sender's messages are nobody else's news") { world in
            try await world.withSubscription { store, sender, findings in
                _ = try await world.run(.registerSender(world.scope, name: "other", id: "SVR-other"))
                _ = try await world.news(of: "SVR-other", count: 1)
                findings.equal(try await world.claims(store, "n1", of: sender).count, 0, "claims")
            }
        },
    ]
}

extension ContractWorld {
    /// A sender with a callback, and the store under test.
    fileprivate func withSubscription(
        _ body: (any WebhookStore, SenderID, inout Findings) async throws -> Void
    ) async throws -> [String] {
        guard let webhooks else { return ["the world has no webhook store"] }
        let sender = SenderID("SVR-" + identifiers.randomHex(byteCount: 8))
        _ = try await run(.registerSender(scope, name: sender.rawValue, id: sender))
        _ = try await run(.setCallback(scope, sender, url: "https://a.example/"))
        var findings = Findings()
        try await body(webhooks, sender, &findings)
        return findings.list
    }

    /// The leases on `sender`'s subscription; what belongs to others stays leased.
    fileprivate func claims(
        _ store: any WebhookStore,
        _ node: NodeID,
        of sender: SenderID
    ) async throws -> [WebhookLease] {
        try await store.claim(limit: 100, by: node, lease: Self.lease).filter {
            $0.tenant == tenant && $0.sender == sender
        }
    }

    /// A message of `sender` to phones without the app: each is news at once.
    fileprivate func news(of sender: SenderID, count: Int) async throws -> MessageID {
        var message = message(to: [])
        message.slices = []
        message.sender = sender
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
