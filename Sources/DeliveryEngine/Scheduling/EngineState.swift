import Model

/// The engine's state behind its lock. Decisions are made under the lock and performed outside it.
struct EngineState: Sendable {
    struct Running: Sendable {
        /// With the newest epoch that this node holds on the slice.
        var lease: SliceLease
        /// Nil for an expansion, which queries the store instead of receiving events.
        var inbox: AsyncStream<SliceEvent>.Continuation?
        /// The targets for which it counts, unchanged until it ends: a newer lease has the same ones.
        let targets: Int
        /// Whether a tick may have something to do in its machine.
        var needsTicks = true
    }

    private struct HeldMessage: Hashable {
        var tenant: TenantID
        var message: MessageID

        init(_ key: SliceKey) {
            tenant = key.tenant
            message = key.message
        }
    }

    private(set) var running: [SliceKey: Running] = [:]
    /// The number of running slices of each message.
    private var heldSlices: [HeldMessage: Int] = [:]
    private(set) var shares: SliceShares
    private(set) var offered: OfferedSlices
    /// Leases that were offered without free capacity and must be given back. At most `offerLimit`; further leases expire.
    private var refused: [SliceLease] = []
    private(set) var isDraining = false
    /// Messages of which slices were finished without ending the message, because the node held others.
    private var unsettled: Set<HeldMessage> = []
    /// The number of messages that are being ended.
    private var settling = 0
    var turns: TenantTurns
    var gate: CredentialGate
    var tokens = TokenQuality()
    var meter = PushMeter()
    var totals = EngineStatistics.Totals()
    /// Work that the running slices have begun and not written yet.
    var openWork = OpenWork()
    /// A drain waits for nothing any longer.
    var isHurried = false
    private let policy: EnginePolicy

    init(policy: EnginePolicy) {
        self.policy = policy
        shares = SliceShares(policy: policy)
        turns = TenantTurns(share: policy.targetsPerRound)
        offered = OfferedSlices(limit: policy.offerLimit)
        gate = CredentialGate(policy: policy)
    }

    // MARK: Leases in

    /// A lease was claimed, or its turn has come. True: it needs a task of its own; false: the running task received the newer epoch.
    mutating func admit(_ lease: SliceLease) -> Bool {
        guard var known = running[lease.key] else {
            let targets = policy.weight(of: lease)
            running[lease.key] = Running(lease: lease, targets: targets)
            heldSlices[HeldMessage(lease.key), default: 0] += 1
            shares.take(lease.key.tenant, lease.lane, targets: targets)
            return true
        }
        if lease.epoch > known.lease.epoch {
            known.lease = lease
            running[lease.key] = known
            known.inbox?.yield(.reclaimed(lease))
        }
        return false
    }

    /// Accepts leases while there is capacity, and returns their number.
    mutating func offer(_ leases: [SliceLease]) -> Int {
        var taken = 0
        for lease in leases {
            if !isDraining && offered.offer(lease) {
                taken += 1
            } else if refused.count < policy.offerLimit {
                refused.append(lease)
            }
        }
        totals.offersRefused += leases.count - taken
        return taken
    }

    mutating func nextOffered(in lane: Lane, now: Timestamp) -> SliceLease? {
        guard offered.count > 0 else { return nil }
        let shares = self.shares
        let gate = self.gate
        return offered.next(in: lane) { tenant in
            shares.quota(of: tenant, in: lane) > 0
                && gate.room(for: tenant, in: lane, running: shares.slices(of: tenant, in: lane), now: now) > 0
        }
    }

    mutating func takeRefused() -> [SliceLease] {
        defer { refused = [] }
        return refused + (isDraining ? offered.takeAll() : [])
    }

    /// The number of slices that the tenant may start now.
    func quota(of tenant: TenantID, in lane: Lane, now: Timestamp) -> Int {
        let slices = shares.slices(of: tenant, in: lane)
        let room = gate.room(for: tenant, in: lane, running: slices, now: now)
        let quota = min(shares.quota(of: tenant, in: lane), room)
        guard quota > 0, !lane.isPressing, let places = gate.stuckPlaces(of: tenant, now: now) else { return quota }
        // A further slice would most likely wait for the same credential as the tenant's running ones, so it may start one at a time.
        return slices > places ? 0 : 1
    }

    // MARK: A slice's task

    /// Sets the stream that delivers events to the slice's task.
    mutating func listen(_ key: SliceKey, _ inbox: AsyncStream<SliceEvent>.Continuation) {
        running[key]?.inbox = inbox
        if isDraining { inbox.yield(.drainRequested) }
    }

    /// The slice's task has finished the lease it had at `epoch`. Returns a newer lease on the same slice, if any: the task continues with it.
    mutating func ended(_ key: SliceKey, epoch: Int64) -> SliceLease? {
        guard let known = running[key] else { return nil }
        if known.lease.epoch > epoch {
            running[key]?.inbox = nil
            running[key]?.needsTicks = true
            return known.lease
        }
        running[key] = nil
        let message = HeldMessage(key)
        let others = (heldSlices[message] ?? 1) - 1
        heldSlices[message] = others > 0 ? others : nil
        shares.giveBack(key.tenant, known.lease.lane, targets: known.targets)
        return nil
    }

    /// Whether the slice's machine has something to do at a tick has changed.
    mutating func listen(_ key: SliceKey, toTicks needsTicks: Bool) { running[key]?.needsTicks = needsTicks }

    /// Most of many small slices wait for an answer, and a tick would only wake their tasks.
    func tick() {
        for slice in running.values where slice.needsTicks { slice.inbox?.yield(.ticked) }
    }

    // MARK: Ends of messages

    /// Whether the node holds a slice of the same message other than `key`.
    func holdsOthers(than key: SliceKey) -> Bool {
        (heldSlices[HeldMessage(key)] ?? 0) > (running[key] == nil ? 0 : 1)
            || offered.contains(key.message, of: key.tenant)
    }

    /// The slice was finished without ending its message.
    mutating func leftUnsettled(_ key: SliceKey) { unsettled.insert(HeldMessage(key)) }

    /// Whether the message of the slice, whose task has ended, must be ended now. `settled` must follow.
    mutating func beginSettling(_ key: SliceKey) -> Bool {
        guard !unsettled.isEmpty, !holdsOthers(than: key), unsettled.remove(HeldMessage(key)) != nil else {
            return false
        }
        settling += 1
        return true
    }

    mutating func settled() { settling -= 1 }

    /// Whether nothing is left to write.
    var isIdle: Bool { running.isEmpty && settling == 0 }

    // MARK: Leases out

    /// Every lease that must be renewed.
    var leases: [SliceLease] { running.values.map(\.lease) + offered.leases }

    /// The store returned which of `asked` this node still holds; the tasks of the others receive `fenced`.
    mutating func renewed(_ asked: [SliceLease], kept: Set<SliceKey>) {
        let lost = asked.filter { !kept.contains($0.key) }
        guard !lost.isEmpty else { return }
        offered.remove(Set(lost.map(\.key)))
        for lease in lost { running[lease.key]?.inbox?.yield(.fenced(epoch: lease.epoch)) }
    }

    // MARK: Drain

    mutating func drain() {
        guard !isDraining else { return }
        isDraining = true
        tell(.drainRequested)
    }

    func tell(_ event: SliceEvent) {
        for slice in running.values { slice.inbox?.yield(event) }
    }
}
