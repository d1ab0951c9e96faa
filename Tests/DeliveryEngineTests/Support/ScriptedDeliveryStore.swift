import DeliveryEngine
import EngineSupport
import Model
import NIOConcurrencyHelpers

/// The minimal store for an engine's tasks: slices with a lease and an epoch, and outcomes by target.
///
/// The rules of the real store are in `DeliveryStoreRuleTests`; the engine on PostgreSQL is tested in DeliveryEngineStoreTests.
final class ScriptedDeliveryStore: DeliveryStore {
    private struct Slice {
        var lease: SliceLease
        var owner: NodeID?
        var isDone = false
        /// The due time while the slice is free, the end of the lease while it is leased.
        var nextAt: ContinuousClock.Instant

        func isDue(in lane: Lane, _ now: ContinuousClock.Instant) -> Bool {
            !isDone && lease.lane == lane && nextAt <= now
        }

        func isHeld(_ held: SliceLease, by node: NodeID) -> Bool {
            owner == node && lease.epoch == held.epoch && !isDone
        }
    }

    private struct State {
        var slices: [SliceKey: Slice] = [:]
        var outcomes: [TargetID: [DeliveryState]] = [:]
        var nodes: Set<NodeID> = []
        var isAway = false
        var failures = 0
    }

    private let state = NIOLockedValueBox(State())

    /// Appends a message of `count` targets in slices of `size`.
    func add(_ message: MessageID, tenant: TenantID, count: Int, size: Int) {
        state.withLockedValue { state in
            for (number, start) in stride(from: 0, to: count, by: size).enumerated() {
                let key = SliceKey(tenant: tenant, message: message, number: Int32(number))
                let lease = SliceLease(
                    key: key,
                    epoch: 0,
                    lane: .bulk,
                    dueDay: MachineBench.start.day,
                    work: .deliver,
                    targets: (start..<min(start + size, count)).map { target(message, $0) }
                )
                state.slices[key] = Slice(lease: lease, nextAt: .now)
            }
        }
    }

    /// A different target for every message.
    private func target(_ message: MessageID, _ index: Int) -> TargetID {
        TargetID(.numbered(Int(message.rawValue.bytes.last ?? 0) * 100_000 + index))
    }

    var isAway: Bool {
        get { state.withLockedValue { $0.isAway } }
        set { state.withLockedValue { $0.isAway = newValue } }
    }

    var failures: Int { state.withLockedValue { $0.failures } }
    var isDone: Bool { state.withLockedValue { $0.slices.values.allSatisfy(\.isDone) } }
    var leased: Int { state.withLockedValue { $0.slices.values.count { $0.owner != nil && !$0.isDone } } }
    var nodes: Set<NodeID> { state.withLockedValue { $0.nodes } }
    /// Every outcome that was written, by target.
    var outcomes: [TargetID: [DeliveryState]] { state.withLockedValue { $0.outcomes } }

    private func access<Value>(_ body: (inout State) -> Value) throws(StoreError) -> Value {
        let result = state.withLockedValue { state -> Value? in
            if state.isAway {
                state.failures += 1
                return nil
            }
            return body(&state)
        }
        guard let result else { throw StoreError(.unavailable, "the test has switched the store off") }
        return result
    }

    // MARK: DeliveryStore

    func dueTenants(in lane: Lane, limit: Int, withLapsed: Bool) async throws(StoreError) -> [TenantID] {
        let now = ContinuousClock.now
        return try access { state in
            Array(Set(state.slices.values.filter { $0.isDue(in: lane, now) }.map(\.lease.key.tenant)).prefix(limit))
        }
    }

    func claim(
        tenant: TenantID,
        lane: Lane,
        limit: Int,
        by node: NodeID,
        lease: Duration,
        withLapsed: Bool
    ) async throws(StoreError) -> [SliceLease] {
        let now = ContinuousClock.now
        return try access { state in
            let due = state.slices.values.filter { $0.lease.key.tenant == tenant && $0.isDue(in: lane, now) }
                .map(\.lease.key)
            return due.prefix(limit).compactMap { key in
                state.slices[key]?.owner = node
                state.slices[key]?.nextAt = now + lease
                state.slices[key]?.lease.epoch += 1
                return state.slices[key]?.lease
            }
        }
    }

    func renew(_ leases: [SliceLease], by node: NodeID, lease: Duration) async throws(StoreError) -> Set<SliceKey> {
        try access { state in
            var kept: Set<SliceKey> = []
            for held in leases where state.slices[held.key]?.isHeld(held, by: node) == true {
                state.slices[held.key]?.nextAt = .now + lease
                kept.insert(held.key)
            }
            return kept
        }
    }

    func load(_ lease: SliceLease) async throws(StoreError) -> SliceWork? {
        try access { _ in
            var work = MachineBench.work(lease)
            for index in work.targets.keys {
                let target = lease.targets[index]
                work.targets[index]?.target = target
                work.targets[index]?.destination.token = DeviceToken(stored: "\(target)")
            }
            return work
        }
    }

    func record(_ progress: SliceProgress, by node: NodeID) async throws(StoreError) -> RecordResult {
        try access { state in
            let key = progress.lease.key
            guard state.slices[key]?.isHeld(progress.lease, by: node) == true else { return .fenced }
            state.slices[key]?.lease.done = progress.lease.done
            for result in progress.results { state.outcomes[result.target, default: []].append(result.state) }
            for retry in progress.retries {
                guard case .again(let delay, _) = retry.disposition, var lease = state.slices[key]?.lease else {
                    continue
                }
                for index in retry.indexes { state.slices[key]?.lease.markDone(index) }
                lease.targets = retry.indexes.map { lease.targets[$0] }
                lease.done = []
                lease.key.number = Int32(state.slices.count)
                state.slices[lease.key] = Slice(lease: lease, nextAt: .now + delay)
            }
            switch progress.disposition {
            case .goOn: break
            case .finished, .dead: state.slices[key]?.isDone = true
            case .again(let delay, _), .crowded(let delay):
                state.slices[key]?.owner = nil
                state.slices[key]?.nextAt = .now + delay
            }
            return .recorded(progress.results.count)
        }
    }

    func settle(_ message: MessageID, tenant: TenantID) async throws(StoreError) { try access { _ in } }

    func release(_ leases: [SliceLease], by node: NodeID) async throws(StoreError) {
        try access { state in
            for held in leases where state.slices[held.key]?.isHeld(held, by: node) == true {
                state.slices[held.key]?.owner = nil
                state.slices[held.key]?.nextAt = .now
                state.slices[held.key]?.lease.epoch += 1
            }
        }
    }

    func heartbeat(_ node: NodeID) async throws(StoreError) -> Timestamp {
        try access { state in
            state.nodes.insert(node)
            return MachineBench.start
        }
    }

    func leave(_ node: NodeID) async throws(StoreError) { try access { state in _ = state.nodes.remove(node) } }

    func expand(
        _ lease: SliceLease,
        by node: NodeID,
        pageSize: Int,
        preferring dialects: [Vendor]?
    ) async throws(StoreError) -> ExpansionResult {
        .fenced
    }
    func routing(of lease: SliceLease, by node: NodeID) async throws(StoreError) -> StoredRouting { .none }
    func tags(
        _ names: Set<String>,
        of identities: [Int: IdentityID],
        tenant: TenantID
    ) async throws(StoreError) -> [Int: Set<String>] { [:] }

    func called(
        _ users: [CalledUser],
        by message: MessageID,
        tenant: TenantID
    ) async throws(StoreError) -> [Int: Bool] { [:] }
    func earlier(
        than lease: SliceLease,
        for targets: [Int: TargetFacts],
        by node: NodeID
    ) async throws(StoreError) -> EarlierFinding { .found(EarlierMessages()) }
    func image(_ media: MediaReference, tenant: TenantID) async throws(StoreError) -> InlineImage? { nil }
    func begin(_ order: UpstreamOrder, of lease: SliceLease, by node: NodeID) async throws(StoreError) -> UpstreamStart
    {
        .begun
    }
    func condemn(_ verdicts: [TokenVerdict], tenant: TenantID) async throws(StoreError) {}
    func noteCredential(_ key: CredentialKey, refusal: Rejection?) async throws(StoreError) {}
    func resume(_ key: CredentialKey) async throws(StoreError) {}
    func draw(_ draws: [BudgetDraw]) async throws(StoreError) -> [Int32] { draws.map(\.count) }
}
