import DatabaseSupport
import DeliveryEngine
import EngineStore
import EngineSupport
import Model
import NIOConcurrencyHelpers
import Store
import TestKit
import Testing

/// Sends through upstreams: engines on PostgreSQL (docs/routing.md#upstream-sending).
@Suite(.timeLimit(.minutes(10))) struct DeliveryEngineUpstreamTests {
    /// An upstream that counts how often each target was sent to, and that can leave calls without an answer.
    private final class Upstream: UpstreamTransport {
        private struct State {
            var received: [String: Int] = [:]
            var calls = 0
            var isSilent = false
            var outcome: Outcome?
        }

        private let state = NIOLockedValueBox(State())

        var received: [String: Int] { state.withLockedValue { $0.received } }
        var calls: Int { state.withLockedValue { $0.calls } }

        /// Whether calls are received and never answered.
        func set(isSilent: Bool) { state.withLockedValue { $0.isSilent = isSilent } }

        func answer(_ outcome: Outcome) { state.withLockedValue { $0.outcome = outcome } }

        func settings(of key: CredentialKey) -> UpstreamSettings? { UpstreamSettings(vendor: .rationalOwl) }

        func call(_ call: UpstreamCall, through key: CredentialKey) async -> UpstreamResult {
            let (isSilent, outcome) = state.withLockedValue { state in
                state.calls += 1
                for name in call.names { state.received[name, default: 0] += 1 }
                return (state.isSilent, state.outcome)
            }
            if isSilent { try? await Task.sleep(for: .seconds(3600)) }
            return UpstreamResult(outcome ?? .acceptedByUpstream, for: call, reference: "m-1")
        }
    }

    private func put(_ rules: JSON, after version: Int?, _ world: EngineWorld) async throws {
        let draft = RouteDraft(
            app: "shop",
            after: version,
            format: 1,
            base: ["deliveries": rules],
            overlay: [:],
            upstreams: ["old": ["vendor": "rationalowl"]]
        )
        let store = PostgresRouteStore(engine: world.stores.engine)
        let made = try await store.put(draft, checkedWith: [], in: world.acme, by: .key("ops"))
        try #require(made != nil)
    }

    @Test func anUpstreamGetsAllTargetsInAFewCalls() async throws {
        let world = try await EngineWorld()
        let upstream = Upstream()
        try await put([["paths": ["old"]]], after: nil, world)
        let (message, _) = try await world.submit(to: world.register(120), sliceSize: 120)
        try await world.running(world.engine(upstreams: upstream)) {
            try await world.eventually("all are sent") { try await world.isDone(message) }
        }
        #expect(upstream.received.count == 120 && upstream.received.values.allSatisfy { $0 == 1 })
        #expect(upstream.calls == 3 && world.pushes.isEmpty)
        #expect(try await world.sent(message) == 120)
    }

    // The rate is in the tenant's file, and its budget in the database.
    @Test func theCallsPerSecondOfAnUpstreamAreLimited() async throws {
        let world = try await EngineWorld()
        let upstream = Upstream()
        try await world.stores.provision("acme") { tenant in
            var old = ProvisionedCredential.sample("old")
            old.kind = "upstream-rationalowl"
            old.teamID = nil
            old.keyID = nil
            old.endpoint = "https://push.example.com"
            old.pushesPerSecond = 20
            tenant.credentials.append(old)
        }
        try await put([["paths": ["old"]]], after: nil, world)
        let engine = world.engine(upstreams: upstream)
        let stored = try await world.stores.directory.credentials().filter { $0.key.tenant == world.acme }
        engine.limit(Dictionary(stored.map { ($0.key, $0.rates) }, uniquingKeysWith: { first, _ in first }))
        let (message, _) = try await world.submit(to: world.register(90), sliceSize: 2)
        let clock = ContinuousClock()
        let began = clock.now
        try await world.running(engine) {
            try await world.eventually("all are sent") { try await world.isDone(message) }
        }
        // One call for each slice. At most 750 ms of the rate are spent at once: what a rest has saved, and what a draw reaches ahead.
        #expect(upstream.calls == 45 && clock.now - began >= .milliseconds(1000 * 45 / 20 - 750))
        #expect(upstream.received.values.allSatisfy { $0 == 1 })
        #expect(try await world.sent(message) == 90)
    }

    @Test func whatTheUpstreamDoesNotKnowIsPushed() async throws {
        let world = try await EngineWorld()
        let upstream = Upstream()
        upstream.answer(.unknownTarget("NOT_FOUND", status: 200))
        try await put([["paths": ["old", "apns"]]], after: nil, world)
        let (message, _) = try await world.submit(to: world.register(30), sliceSize: 30)
        try await world.running(world.engine(upstreams: upstream)) {
            try await world.eventually("all are sent") { try await world.sent(message) == 30 }
        }
        #expect(world.pushes.count == 30 && world.pushes.values.allSatisfy { $0 == 1 })
    }

    // Another node takes over while a call is in flight. With the record it settles the targets; without it, the control, it calls again.
    @Test(arguments: [true, false])
    func aCallIsMadeOnceIfItIsRecorded(isRecorded: Bool) async throws {
        let world = try await EngineWorld(omitting: isRecorded ? [] : [.recordsOfCalls])
        let upstream = Upstream()
        upstream.set(isSilent: true)
        try await put([["paths": ["old"]]], after: nil, world)
        let (message, _) = try await world.submit(to: world.register(20), sliceSize: 20)
        var policy = EngineWorld.policy
        // The node that hangs does not renew its lease.
        policy.lease = .seconds(2)
        let first = world.engine("first", policy: policy, upstreams: upstream)
        let hanging = Task { try await first.run() }
        try await world.eventually("the call is in flight") { upstream.calls == 1 }
        hanging.cancel()
        _ = try? await hanging.value
        upstream.set(isSilent: false)
        try await world.running(world.engine("second", upstreams: upstream)) {
            try await world.eventually("all are settled") { try await world.isDone(message) }
        }
        #expect(upstream.received.values.allSatisfy { $0 == (isRecorded ? 1 : 2) }, "\(upstream.received)")
        let rows = try await world.deliveries(message)
        #expect(rows.count == 20)
        #expect(rows.allSatisfy { $0.isCertain == !isRecorded })
    }
}
