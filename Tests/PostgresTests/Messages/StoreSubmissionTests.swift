import DatabaseSupport
import DeliveryEngine
import Foundation
import Model
import Testing

@testable import EngineStore
@testable import Store

/// Acceptance: message, slices, suppressed deliveries, counters, events and the repeat key, in one commit.
@Suite struct StoreSubmissionTests {
    private func target() -> TargetID { TargetID(rawValue: UUID()) }

    private func suppressed(_ address: Address) -> SuppressedTarget {
        SuppressedTarget(target: target(), identity: nil, device: nil, address: address, reason: .noDevice)
    }

    @Test func anAcceptedMessageIsStoredWithAllItsParts() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01")
        let content = Content(
            title: "제목",
            body: "본문",
            badge: 3,
            data: JSONObject([("b", JSON.string("2")), ("a", .number("1.50")), ("c", .array([true, .null]))]),
            media: MediaReference(id: "m1", hash: "h1"),
            isUrgent: true
        )
        let now = try await fixture.now()
        let bytes: [UInt8] = [0, 1, 254, 255]
        #expect(
            try await fixture.ask(PutMedia(hash: "h1", contentType: "image/png", bytes: bytes, at: now)) == 1
        )
        let message = try await fixture.message(
            to: [(TargetID(device.identity), .phone("010"))],
            suppressed: [suppressed(.phone("011"))],
            content: content
        )
        #expect(try await fixture.accept(message) == .inserted)

        let facts = try await fixture.facts(message.id)
        #expect(facts.content == content)
        #expect(facts.content.data.keys == ["b", "a", "c"])
        #expect(facts.state == .sending && facts.recipients == 2 && facts.funnel.suppressed == 1)
        #expect(facts.dueAt == message.times.dueAt && facts.dueDay == message.times.dueAt.day)
        #expect(try await fixture.counters() == Funnel(recipients: 2, suppressed: 1))
        let events = try await fixture.log()
        #expect(Set(events.map(\.kind)) == ["registered", "accepted", "suppressed"])
        #expect(events.map(\.offset) == [1, 2, 3])
        #expect(
            try await fixture.ask(FindMedia(fixture.scope, message.id, media: "m1"))
                == StoredMedia(bytes: bytes, contentType: "image/png")
        )
        #expect(try await fixture.ask(FindMedia(fixture.scope, message.id, media: "h1")) == nil)
        let elsewhere = AppScope(app: "another", vendor: .rationalOwl)
        #expect(try await fixture.ask(FindMedia(elsewhere, message.id, media: "m1")) == nil)
    }

    @Test func aRepeatReturnsTheFirstAnswerAndAnotherBodyIsRefused() async throws {
        let fixture = try await StoreFixture.make()
        let key = IdempotencyKey(key: "once", bodyHash: "a")
        let first = try await fixture.message(to: [(target(), nil)], idempotency: key)
        #expect(try await fixture.accept(first) == .inserted)
        let again = try await fixture.message(to: [(target(), nil)], idempotency: key)
        #expect(try await fixture.accept(again) == .repeated(first.id, recipients: 1))
        let changed = IdempotencyKey(key: "once", bodyHash: "b")
        let third = try await fixture.message(to: [(target(), nil)], idempotency: changed)
        #expect(try await fixture.accept(third) == .mismatch)
        #expect(try await fixture.queries.message(again.id.description, in: fixture.acme) == nil)
        #expect(try await fixture.counters().recipients == 1)
        #expect(try await fixture.accept(first, in: fixture.other) == .inserted)
    }

    @Test func concurrentRepeatsInsertOneMessage() async throws {
        let fixture = try await StoreFixture.make()
        let key = IdempotencyKey(key: "once", bodyHash: "a")
        let answers = try await withThrowingTaskGroup(of: Acceptance.self) { group in
            for _ in 0..<8 {
                let message = try await fixture.message(to: [(target(), nil)], idempotency: key)
                group.addTask { try await fixture.accept(message) }
            }
            return try await group.reduce(into: [Acceptance]()) { $0.append($1) }
        }
        #expect(answers.filter { $0 == .inserted }.count == 1)
        #expect(try await fixture.counters().recipients == 1)
    }

    @Test func aMessageWithoutReachableTargetsIsDone() async throws {
        let fixture = try await StoreFixture.make()
        let message = try await fixture.message(suppressed: [suppressed(.phone("010"))])
        try await fixture.accept(message)
        #expect(try await fixture.facts(message.id).state == .done)
    }

    @Test func aReservedMessageWaitsForItsTime() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01")
        let target = TargetID(device.identity)
        let message = try await fixture.message(
            to: [(target, nil)],
            dueIn: .seconds(3600),
            leased: false
        )
        try await fixture.accept(message)
        #expect(try await fixture.facts(message.id).state == .scheduled)
        #expect(try await !fixture.delivery.dueTenants(in: .transactional, limit: 10_000).contains(fixture.acme))
        let queued = try await fixture.queries.delivery(of: message.id, target: target, in: fixture.acme)
        #expect(queued?.snapshot.state == .queued && queued?.snapshot.isReserved == true)
        let found = try await fixture.ask(FindDelivery(fixture.scope, message.id, Reporter(key: "k1")))
        let snapshot = try #require(found.snapshot)
        #expect(found.platform == .ios && snapshot.isReserved && snapshot.state == .queued)
    }

    @Test func aCanceledMessageIsDueAtOnce() async throws {
        let fixture = try await StoreFixture.make()
        let message = try await fixture.message(to: [(target(), nil)], dueIn: .seconds(3600), leased: false)
        try await fixture.accept(message)
        let braze = AppScope(app: "shop", vendor: .braze)
        #expect(try await fixture.ask(ControlMessage(braze, message.id, .cancel, by: nil)) == 0)
        #expect(try await fixture.ask(ControlMessage(fixture.scope, message.id, .cancel, by: nil)) == 1)
        #expect(try await fixture.ask(ControlMessage(fixture.scope, message.id, .cancel, by: nil)) == 0)
        let claimed = try await fixture.delivery.claim(
            tenant: fixture.acme,
            lane: .transactional,
            limit: 5,
            by: fixture.node,
            lease: .seconds(600)
        )
        let lease = try #require(claimed.first)
        #expect(try await fixture.delivery.load(lease)?.state == .canceled)
        let progress = try await fixture.progress(lease, [0], .canceled, transport: nil)
        #expect(try await fixture.delivery.record(progress, by: fixture.node) == .recorded(1))
        let facts = try await fixture.facts(message.id)
        #expect(facts.state == .canceled && facts.funnel.canceled == 1)
    }

    @Test func addressesLeadToTheNewestActiveIdentity() async throws {
        let fixture = try await StoreFixture.make()
        let first = try await fixture.register("k1", token: "aa01", phone: "010")
        let second = try await fixture.register("k2", phone: "011")
        let braze = try await fixture.register("b1", token: "aa01", vendor: .braze)
        let addresses: [Address] = [
            .deviceKey("k2"), .phone("010"), .phone("099"), .device(first.device), .deviceKey("b1"),
        ]
        let own = try await fixture.ask(ResolveAddresses(fixture.scope, addresses))
        #expect(own.map { $0?.identity } == [second.identity, first.identity, nil, first.identity, nil])
        #expect(own.map { $0?.isReachable } == [false, true, nil, true, nil])
        let native = AppScope(app: "shop", vendor: .native)
        let all = try await fixture.ask(ResolveAddresses(native, addresses))
        #expect(all.last??.identity == braze.identity)
    }

    @Test func anAppWithoutACredentialIsReported() async throws {
        let fixture = try await StoreFixture.make()
        #expect(
            try await fixture.ask(FindApp(fixture.scope)) == AppFacts(hasCredential: true, identityCount: 0)
        )
        var tenant = fixture.tenant("acme")
        tenant.apps[0].platforms = [:]
        _ = try await fixture.provisioning.apply([tenant])
        #expect(
            try await fixture.ask(FindApp(fixture.scope)) == AppFacts(hasCredential: false, identityCount: 0)
        )
        #expect(try await fixture.ask(FindApp(AppScope(app: "none", vendor: .native))) == nil)
    }

    /// Several commands of one call are one transaction.
    @Test func aFailedStatementUndoesTheOthers() async throws {
        let fixture = try await StoreFixture.make()
        let good = try await fixture.message(to: [(target(), nil)])
        var bad = try await fixture.message(to: [(target(), nil)])
        bad.scope.app = "unknown"
        await #expect(throws: StoreError.self) {
            try await fixture.commands.run(AcceptMessage(good), AcceptMessage(bad), in: fixture.acme)
        }
        #expect(try await fixture.queries.message(good.id.description, in: fixture.acme) == nil)
        #expect(try await fixture.counters().recipients == 0)
    }
}
