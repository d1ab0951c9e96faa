import Forwarding
import Logging
import Model
import NIOConcurrencyHelpers
import ServiceLifecycle
import Testing

/// The service around the machine: it makes every call, survives failures of its store, and ends with its last call.
@Suite(.timeLimit(.minutes(2))) struct ForwarderTests {
    /// Notes the calls, and answers as a test says.
    private final class Caller: ForwardCaller {
        private let made = NIOLockedValueBox<[String]>([])
        private let answer: @Sendable (String) async -> ForwardVerdict

        init(_ answer: @escaping @Sendable (String) async -> ForwardVerdict) { self.answer = answer }

        var calls: [String] { made.withLockedValue { $0 } }

        func call(_ lease: ForwardLease) async -> ForwardVerdict {
            let name = "\(lease.queue.orderingKey.first ?? 0)/\(lease.number)"
            made.withLockedValue { $0.append(name) }
            return await answer(name)
        }
    }

    private var policy: ForwardPolicy {
        var policy = ForwardPolicy().scaled(by: 0.01)
        policy.interval = .milliseconds(10)
        return policy
    }

    /// Runs a forwarder while `body` runs, then shuts it down regularly.
    private func run(
        _ store: ScriptedForwardStore,
        _ caller: Caller,
        _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let forwarder = Forwarder(
            store: store,
            caller: caller,
            node: "node-1",
            policy: policy,
            clock: ContinuousClock()
        )
        let group = ServiceGroup(services: [forwarder], logger: Logger(label: "test"))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            try await body()
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    private func until(_ isDone: @escaping @Sendable () -> Bool) async throws {
        while !isDone() { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test func everyCallIsMadeInTheOrderOfItsQueue() async throws {
        let store = ScriptedForwardStore([1: [1, 2, 3], 2: [1, 2]])
        store.fail(StoreError(.unavailable, "the test has stopped it"))
        let caller = Caller { $0 == "1/2" ? .refused("HTTP 400") : .accepted }
        try await run(store, caller) { try await until { store.isEmpty } }
        #expect(caller.calls.filter { $0.hasPrefix("1/") } == ["1/1", "1/2", "1/3"])
        #expect(caller.calls.filter { $0.hasPrefix("2/") } == ["2/1", "2/2"])
    }

    @Test func aFailedCallIsMadeAgainBeforeTheNextOne() async throws {
        let store = ScriptedForwardStore([1: [1, 2]])
        let failures = NIOLockedValueBox(2)
        let caller = Caller { _ in
            let fails = failures.withLockedValue { left in
                left -= 1
                return left >= 0
            }
            return fails ? .failed("timeout", after: nil) : .accepted
        }
        try await run(store, caller) { try await until { store.isEmpty } }
        #expect(caller.calls == ["1/1", "1/1", "1/1", "1/2"])
    }

    @Test func aNodeThatStopsEndsItsCallAndGivesTheQueueBack() async throws {
        let store = ScriptedForwardStore([1: [1, 2]])
        let mayEnd = NIOLockedValueBox(false)
        let caller = Caller { _ in
            while !mayEnd.withLockedValue({ $0 }) {
                do { try await Task.sleep(for: .milliseconds(5)) } catch { return .canceled }
            }
            return .accepted
        }
        try await run(store, caller) {
            try await until { caller.calls == ["1/1"] }
            Task {
                try? await Task.sleep(for: .milliseconds(100))
                mayEnd.withLockedValue { $0 = true }
            }
        }
        #expect(caller.calls == ["1/1"] && store.leased.isEmpty && store.returned == 1)
    }
}
