import DeliveryEngine
import EngineSupport
import Model
import TestKit
import Testing

/// The engine's tasks and their shared state, on a store without a database, for the thread sanitizer.
@Suite(.timeLimit(.minutes(10))) struct EngineTaskTests {
    private let store = ScriptedDeliveryStore()
    private let transport = ScriptedTransport(name: "apns")

    private static func policy(targets: Int = EnginePolicy().targetsPerNode) -> EnginePolicy {
        var policy = EnginePolicy()
        policy.pollInterval = .milliseconds(10)
        policy.flushInterval = .milliseconds(20)
        policy.heartbeatInterval = .milliseconds(50)
        policy.storeBackoff = RetryBackoff(first: .milliseconds(5), cap: .milliseconds(20))
        policy.fullRetry = .milliseconds(5)
        policy.retryScale = 0.001
        policy.targetsPerNode = targets
        policy.targetsReserved = min(policy.targetsReserved, targets / 4)
        return policy
    }

    private func engine(_ node: NodeID, policy: EnginePolicy = EngineTaskTests.policy()) -> DeliveryEngine {
        DeliveryEngine(
            store: store,
            transports: [.ios: transport],
            payloads: PayloadWriter(adapters: [.rationalOwl: PlainAdapter()]),
            identifiers: TestIdentifiers(),
            policy: policy,
            node: node
        )
    }

    private func eventually(
        _ what: Comment,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ condition: () -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < deadline {
            if condition() { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        Issue.record(what, sourceLocation: sourceLocation)
    }

    private func running(_ engines: [DeliveryEngine], _ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for engine in engines { group.addTask { try await engine.run() } }
            do {
                try await body()
            } catch {
                group.cancelAll()
                throw error
            }
            for engine in engines { engine.drain() }
            transport.release()
            try await group.waitForAll()
        }
    }

    private func expectOnce(_ count: Int) {
        #expect(store.outcomes.count == count && store.outcomes.values.allSatisfy { $0 == [.sent] })
        #expect(transport.sent.count == count && Set(transport.sent.map(\.push.token)).count == count)
    }

    @Test func severalEnginesShareTheSlicesOfTwoTenants() async throws {
        store.add(MessageID(.numbered(1)), tenant: "acme", count: 1000, size: 20)
        store.add(MessageID(.numbered(2)), tenant: "beta", count: 500, size: 20)
        try await running([engine("a"), engine("b"), engine("c")]) {
            try await eventually("all is sent") { store.isDone }
        }
        expectOnce(1500)
        #expect(store.nodes.isEmpty)
    }

    @Test func outageInMidSendLosesAndRepeatsNothing() async throws {
        store.add(MessageID(.numbered(1)), tenant: "acme", count: 300, size: 100)
        transport.hold()
        try await running([engine("a")]) {
            await transport.sends(atLeast: 300)
            store.isAway = true
            transport.release()
            try await eventually("the store is missed") { store.failures > 20 }
            #expect(store.outcomes.isEmpty)
            store.isAway = false
            try await eventually("all is written") { store.isDone }
        }
        expectOnce(300)
    }

    // A push service that answers late delays one target by its latency, and does not limit how many wait.
    @Test func manySlicesWithOneTargetWaitForTheirAnswersTogether() async throws {
        store.add(MessageID(.numbered(1)), tenant: "acme", count: 700, size: 1)
        transport.hold()
        try await running([engine("a")]) {
            try await eventually("all are sent") { transport.sent.count == 700 }
            #expect(store.outcomes.isEmpty)
            transport.release()
            try await eventually("all is written") { store.isDone }
        }
        expectOnce(700)
    }

    @Test func drainReturnsTheRestAndTheSuccessorRepeatsNothing() async throws {
        store.add(MessageID(.numbered(1)), tenant: "acme", count: 400, size: 20)
        transport.hold()
        try await running([engine("first", policy: Self.policy(targets: 12 * 20))]) {
            await transport.sends(atLeast: 40)
        }
        #expect(!store.isDone && store.leased == 0 && store.nodes.isEmpty)
        #expect(store.outcomes.count == transport.sent.count)
        try await running([engine("second")]) {
            try await eventually("the rest is sent") { store.isDone }
        }
        expectOnce(400)
    }
}
