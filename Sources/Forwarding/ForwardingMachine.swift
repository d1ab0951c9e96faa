package import Model

/// Decides which forwarded calls are made, and what follows from their answers. Pure: it makes no calls, and its clock is a parameter.
///
/// The calls of a queue are made one after another; queues do not wait for each other. Every upstream has one breaker: after some failures in a row, of whatever
/// queues, a single queue at a time tries whether the upstream works again, after waits that double. A refused call is removed like an accepted one. A refused
/// credential stops its upstream in the same way, and nothing is removed.
package struct ForwardingMachine: Sendable {
    package enum Action: Sendable, Hashable {
        /// Lease up to `limit` due queues of the upstream. Ends with `claimed`.
        case claim(CredentialKey, limit: Int)
        /// Make the call. Ends with `answered`.
        case call(ForwardLease)
        /// Remove the call and read the next one of its queue. Ends with `settled`.
        case settle(ForwardLease)
        /// Give the queue back for a while. `counts`: the call itself failed, so that its next wait is longer. Ends with `returned`.
        case postpone(ForwardLease, by: Duration, reason: String, counts: Bool = true)
        /// Give the queue back. Ends with `returned`.
        case release(ForwardLease)
        /// The upstream works again: make the queues due whose calls failed. Ends with nothing.
        case resume(CredentialKey)
    }

    package enum Event: Sendable {
        /// The upstreams that have due queues.
        case due([CredentialKey])
        /// The leases that a claim of up to `limit` queues returned; none if the store failed.
        case claimed(CredentialKey, limit: Int, [ForwardLease])
        case answered(ForwardLease, ForwardVerdict)
        /// The step after a settled call; `lost` also if the store failed: the lease then expires, and the call is made again.
        case settled(ForwardLease, ForwardStep)
        case returned(ForwardLease)
        /// The node stops: no further calls begin.
        case drain
    }

    /// The breaker of an upstream that does not work.
    private struct Block: Sendable {
        var until: Duration
        /// The wait that led to `until`.
        var wait: Duration
    }

    private struct Upstream: Sendable {
        /// Queues in progress or being claimed.
        var used = 0
        var failures = 0
        var block: Block?
        /// Whether the last claim returned as many queues as it asked for, so that more are probably due.
        var hasMore = false
    }

    private let policy: ForwardPolicy
    private var upstreams: [CredentialKey: Upstream] = [:]
    /// The calls made of each queue in progress.
    private var turns: [ForwardQueue: Int] = [:]
    private var used = 0
    private var isDraining = false

    package init(_ policy: ForwardPolicy) { self.policy = policy }

    /// Whether the node stops and nothing is in progress.
    package var hasEnded: Bool { isDraining && used == 0 }

    /// The upstreams whose breaker is open.
    package var blocked: Set<CredentialKey> { Set(upstreams.filter { $0.value.block != nil }.keys) }

    /// Handles what has happened.
    ///
    /// - Parameters:
    ///   - event: what has happened.
    ///   - now: the time on a clock that never goes back.
    /// - Returns: the next actions.
    package mutating func handle(_ event: Event, at now: Duration) -> [Action] {
        switch event {
        case .due(let due):
            // The upstreams with the fewest queues first: otherwise the same ones would take all places of the node again and again.
            return due.sorted { places(of: $0) < places(of: $1) }.compactMap { claim($0, at: now) }
        case .claimed(let upstream, let limit, let leases):
            upstreams[upstream]?.hasMore = leases.count >= limit
            giveBack(max(0, limit - leases.count), of: upstream)
            return leases.map { lease in
                turns[lease.queue] = 0
                return begin(lease, at: now)
            }
        case .answered(let lease, let verdict): return answered(lease, verdict, at: now)
        case .settled(let lease, .next(let next)):
            turns[lease.queue, default: 0] += 1
            return [begin(next, at: now)]
        case .settled(let lease, .ended):
            end(lease.queue)
            return refill(lease.queue.credential, at: now)
        case .settled(let lease, .lost), .returned(let lease):
            end(lease.queue)
            return []
        case .drain:
            isDraining = true
            return []
        }
    }

    // MARK: Places

    private func places(of upstream: CredentialKey) -> Int { upstreams[upstream]?.used ?? 0 }

    private mutating func claim(_ upstream: CredentialKey, at now: Duration) -> Action? {
        guard !isDraining else { return nil }
        let state = upstreams[upstream] ?? Upstream()
        let limit: Int
        if let block = state.block {
            // One queue tries.
            limit = now >= block.until && state.used == 0 ? 1 : 0
        } else {
            limit = policy.queuesPerUpstream - state.used
        }
        let granted = min(limit, policy.queues - used)
        guard granted > 0 else { return nil }
        upstreams[upstream, default: Upstream()].used += granted
        used += granted
        return .claim(upstream, limit: granted)
    }

    /// Claims the next queues of an upstream without waiting for the next look: otherwise no more than `queuesPerUpstream` queues could end per interval. Only
    /// after a call that succeeded: a node that is busy, or an upstream that fails, would pass through all queues. And only when the node has as many places: where
    /// upstreams have taken all of them, each claim would be for one queue, and nothing would be left for another upstream at the next look.
    private mutating func refill(_ upstream: CredentialKey, at now: Duration) -> [Action] {
        guard let state = upstreams[upstream], state.hasMore, state.block == nil,
            min(policy.queuesPerUpstream - state.used, policy.queues - used) >= policy.queuesPerClaim,
            let claim = claim(upstream, at: now)
        else { return [] }
        return [claim]
    }

    private mutating func end(_ queue: ForwardQueue) {
        turns[queue] = nil
        giveBack(1, of: queue.credential)
    }

    private mutating func giveBack(_ count: Int, of upstream: CredentialKey) {
        guard var state = upstreams[upstream] else { return }
        state.used -= count
        used -= count
        // Nothing is remembered of an upstream that works.
        let isIdle = state.used == 0 && state.block == nil && state.failures == 0 && !state.hasMore
        upstreams[upstream] = isIdle ? nil : state
    }

    // MARK: Calls

    private mutating func begin(_ lease: ForwardLease, at now: Duration) -> Action {
        let turn = turns[lease.queue] ?? 0
        let mayCall = !isDraining && turn < policy.callsPerTurn && isOpen(lease.queue.credential, turn, at: now)
        return mayCall ? .call(lease) : .release(lease)
    }

    /// Whether a queue may make its next call. While the breaker is open, only a queue that was claimed for a try may make its first one.
    private func isOpen(_ upstream: CredentialKey, _ turn: Int, at now: Duration) -> Bool {
        guard let block = upstreams[upstream]?.block else { return true }
        return turn == 0 && now >= block.until
    }

    private mutating func answered(_ lease: ForwardLease, _ verdict: ForwardVerdict, at now: Duration) -> [Action] {
        let upstream = lease.queue.credential
        switch verdict {
        case .accepted, .refused:
            let block = upstreams[upstream]?.block
            // A call that began before the breaker opened says nothing new.
            if let block, now < block.until { return [.settle(lease)] }
            upstreams[upstream]?.failures = 0
            upstreams[upstream]?.block = nil
            return block != nil ? [.resume(upstream), .settle(lease)] : [.settle(lease)]
        case .credential(let reason):
            upstreams[upstream]?.block = Block(until: now + policy.credentialWait, wait: policy.credentialWait)
            return [.postpone(lease, by: policy.credentialWait, reason: reason, counts: false)]
        case .failed(let reason, let after):
            failed(upstream, at: now)
            let own = policy.retry(after: lease.attempts + 1)
            return [.postpone(lease, by: min(max(own, after ?? .zero), policy.lastRetry), reason: reason)]
        case .busy: return [.postpone(lease, by: policy.busyWait, reason: "busy", counts: false)]
        case .canceled: return [.release(lease)]
        }
    }

    private mutating func failed(_ upstream: CredentialKey, at now: Duration) {
        guard var state = upstreams[upstream] else { return }
        state.failures += 1
        if let block = state.block {
            // Calls that began before the breaker opened say nothing new.
            if now >= block.until {
                let wait = min(block.wait * 2, policy.lastProbe)
                state.block = Block(until: now + wait, wait: wait)
            }
        } else if state.failures >= policy.failuresToOpen {
            state.block = Block(until: now + policy.firstProbe, wait: policy.firstProbe)
        }
        upstreams[upstream] = state
    }
}
