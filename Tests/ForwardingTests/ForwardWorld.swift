import Forwarding
import Model
import TestKit

/// An upstream, the queues of its calls by the rules of the store, and two nodes that may be killed at any moment.
struct ForwardWorld {
    struct Queue {
        /// The numbers of the calls that wait, in order.
        var waiting: [Int64]
        var owner: Int?
        var epoch: Int64 = 0
        var attempts = 0
        var nextAt = Duration.zero
    }

    /// How the upstream answers.
    enum Mood { case up, down, flaky }

    static let upstream = CredentialKey(tenant: "t", credential: "old")

    let policy: ForwardPolicy
    var random: SplitMix
    var mood = Mood.flaky
    var now = Duration.zero
    var queues: [UInt8: Queue]
    /// The calls that the upstream has received, by key, in order.
    var received: [UInt8: [Int64]] = [:]
    var machines: [ForwardingMachine]
    var pending: [[ForwardingMachine.Action]] = [[], []]
    /// The most calls that were in progress for one key at a time.
    var mostAtOnce = 0

    init(seed: UInt64, keys: UInt8, calls: Int64, policy: ForwardPolicy = ForwardPolicy()) {
        self.policy = policy
        random = SplitMix(state: seed)
        queues = Dictionary(
            uniqueKeysWithValues: (0..<keys).map { ($0, Queue(waiting: Array(1...calls))) }
        )
        machines = [ForwardingMachine(policy), ForwardingMachine(policy)]
    }

    var isDone: Bool { queues.values.allSatisfy { $0.waiting.isEmpty } }

    static func lease(_ key: UInt8, _ number: Int64, epoch: Int64 = 1, attempts: Int = 0) -> ForwardLease {
        let call = ForwardedCall(
            app: "a",
            vendor: "stub",
            upstream: upstream.credential,
            kind: .device,
            name: "register",
            method: "POST",
            path: "/register",
            body: [key]
        )
        return ForwardLease(
            queue: ForwardQueue(tenant: upstream.tenant, app: "a", upstream: upstream.credential, orderingKey: [key]),
            epoch: epoch,
            attempts: attempts,
            number: number,
            call: call
        )
    }

    /// One random step: time passes, a node looks for work, carries out an action or is killed.
    mutating func step(kills: Bool) {
        let node = Int.random(in: 0..<machines.count, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<10: now += .milliseconds(Int64.random(in: 10..<2000, using: &random))
        case 10..<25: look(node)
        case 25 where kills: kill(node)
        default: act(node)
        }
    }

    mutating func look(_ node: Int) {
        let isDue = queues.values.contains { !$0.waiting.isEmpty && $0.nextAt <= now }
        handle(.due(isDue ? [Self.upstream] : []), on: node)
    }

    /// Carries out a random pending action of a node.
    mutating func act(_ node: Int) {
        guard !pending[node].isEmpty else { return }
        let place = Int.random(in: 0..<pending[node].count, using: &random)
        let action = pending[node].remove(at: place)
        if let event = perform(action, node) { handle(event, on: node) }
    }

    /// The node forgets everything. Each of its calls has arrived or not.
    private mutating func kill(_ node: Int) {
        for action in pending[node] {
            if case .call(let lease) = action, Bool.random(using: &random) { receive(lease) }
        }
        pending[node] = []
        machines[node] = ForwardingMachine(policy)
    }

    mutating func handle(_ event: ForwardingMachine.Event, on node: Int) {
        pending[node] += machines[node].handle(event, at: now)
        let calls = pending.joined().compactMap { action -> UInt8? in
            if case .call(let lease) = action { lease.queue.orderingKey.first } else { nil }
        }
        for key in Set(calls) { mostAtOnce = max(mostAtOnce, calls.count { $0 == key }) }
    }

    private mutating func receive(_ lease: ForwardLease) {
        if let key = lease.queue.orderingKey.first { received[key, default: []].append(lease.number) }
    }

    private mutating func perform(_ action: ForwardingMachine.Action, _ node: Int) -> ForwardingMachine.Event? {
        switch action {
        case .claim(let upstream, let limit): return .claimed(upstream, limit: limit, claim(limit, node))
        case .call(let lease): return .answered(lease, answer(lease))
        case .settle(let lease): return .settled(lease, settle(lease, node))
        case .postpone(let lease, let delay, _, let counts):
            change(lease, node) { queue, now in
                if counts { queue.attempts += 1 }
                queue.nextAt = now + delay
            }
            return .returned(lease)
        case .release(let lease):
            change(lease, node) { queue, now in queue.nextAt = now }
            return .returned(lease)
        case .resume:
            for key in queues.keys where queues[key]?.owner == nil { queues[key]?.nextAt = now }
            return nil
        }
    }

    private mutating func answer(_ lease: ForwardLease) -> ForwardVerdict {
        switch mood {
        case .up:
            receive(lease)
            return .accepted
        case .down: return .failed("down", after: nil)
        case .flaky:
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<2: return .failed("lost", after: nil)
            case 2:
                // The call arrived, and its answer was lost.
                receive(lease)
                return .failed("lost", after: nil)
            case 3:
                receive(lease)
                return .refused("HTTP 400")
            default:
                receive(lease)
                return .accepted
            }
        }
    }

    private mutating func claim(_ limit: Int, _ node: Int) -> [ForwardLease] {
        let due = queues.filter { !$0.value.waiting.isEmpty && $0.value.nextAt <= now }.keys.sorted().prefix(limit)
        return due.compactMap { key -> ForwardLease? in
            guard var queue = queues[key], let first = queue.waiting.first else { return nil }
            queue.owner = node
            queue.epoch += 1
            queue.nextAt = now + policy.lease
            queues[key] = queue
            return Self.lease(key, first, epoch: queue.epoch, attempts: queue.attempts)
        }
    }

    private mutating func settle(_ lease: ForwardLease, _ node: Int) -> ForwardStep {
        guard let key = lease.queue.orderingKey.first, var queue = queues[key], queue.owner == node,
            queue.epoch == lease.epoch
        else { return .lost }
        queue.waiting.removeAll { $0 == lease.number }
        queue.attempts = 0
        queue.nextAt = now + policy.lease
        if queue.waiting.isEmpty { queue.owner = nil }
        queues[key] = queue
        return queue.waiting.first.map { .next(Self.lease(key, $0, epoch: queue.epoch)) } ?? .ended
    }

    private mutating func change(_ lease: ForwardLease, _ node: Int, _ body: (inout Queue, Duration) -> Void) {
        guard let key = lease.queue.orderingKey.first, var queue = queues[key], queue.owner == node,
            queue.epoch == lease.epoch
        else { return }
        queue.owner = nil
        body(&queue, now)
        queues[key] = queue
    }
}
