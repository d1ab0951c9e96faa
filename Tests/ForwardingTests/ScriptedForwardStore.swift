import Forwarding
import Model
import NIOConcurrencyHelpers

/// The minimal store for a forwarder: queues of numbered calls and leases without time. The rules of the real store are in `StoreForwardTests`.
final class ScriptedForwardStore: ForwardStore {
    private struct State {
        var waiting: [UInt8: [Int64]] = [:]
        var leased: Set<UInt8> = []
        var returned = 0
        var failures: [StoreError] = []
    }

    private let state = NIOLockedValueBox(State())

    init(_ waiting: [UInt8: [Int64]]) { state.withLockedValue { $0.waiting = waiting } }

    var isEmpty: Bool { state.withLockedValue { $0.waiting.isEmpty } }
    var leased: Set<UInt8> { state.withLockedValue { $0.leased } }
    /// How often a queue was given back.
    var returned: Int { state.withLockedValue { $0.returned } }

    /// The next look fails.
    func fail(_ error: StoreError) { state.withLockedValue { $0.failures.append(error) } }

    func due() async throws(StoreError) -> [CredentialKey] {
        let (failure, isDue) = state.withLockedValue { state -> (StoreError?, Bool) in
            let failure = state.failures.isEmpty ? nil : state.failures.removeFirst()
            return (failure, state.waiting.keys.contains { !state.leased.contains($0) })
        }
        if let failure { throw failure }
        return isDue ? [ForwardWorld.upstream] : []
    }

    func claim(
        _ upstream: CredentialKey,
        limit: Int,
        by node: NodeID,
        lease: Duration
    ) async throws(StoreError) -> [ForwardLease] {
        state.withLockedValue { state in
            let free = state.waiting.keys.filter { !state.leased.contains($0) }.sorted().prefix(limit)
            var leases: [ForwardLease] = []
            for key in free {
                guard let first = state.waiting[key]?.first else { continue }
                state.leased.insert(key)
                leases.append(ForwardWorld.lease(key, first))
            }
            return leases
        }
    }

    func settle(
        _ lease: ForwardLease,
        by node: NodeID,
        for period: Duration
    ) async throws(StoreError) -> ForwardStep {
        state.withLockedValue { state in
            guard let key = lease.queue.orderingKey.first, state.leased.contains(key) else { return .lost }
            state.waiting[key]?.removeAll { $0 == lease.number }
            if let next = state.waiting[key]?.first { return .next(ForwardWorld.lease(key, next)) }
            state.waiting[key] = nil
            state.leased.remove(key)
            return .ended
        }
    }

    func postpone(
        _ lease: ForwardLease,
        by delay: Duration,
        reason: String,
        counts: Bool,
        node: NodeID
    ) async throws(StoreError) -> Bool {
        giveBack(lease)
        return true
    }

    func release(_ lease: ForwardLease, node: NodeID) async throws(StoreError) { giveBack(lease) }

    func resume(_ upstream: CredentialKey) async throws(StoreError) {}

    func survey(limit: Int, age: Duration) async throws(StoreError) -> [ForwardBacklog] { [] }

    private func giveBack(_ lease: ForwardLease) {
        state.withLockedValue { state in
            if let key = lease.queue.orderingKey.first { state.leased.remove(key) }
            state.returned += 1
        }
    }
}
