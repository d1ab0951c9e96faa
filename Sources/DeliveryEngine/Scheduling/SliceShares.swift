package import Model

/// Distributes a node's slots, so that no tenant and no campaign starves another.
///
/// A tenant may take a slot only while it leaves at least as many free as it holds: with few busy tenants each gets much, with many hanging ones
/// each holds little and there is always a free one (Choudhury and Hahne, "Dynamic queue length thresholds", 1998). A pure value.
package struct SliceShares: Sendable {
    private struct Holder: Hashable {
        var tenant: TenantID
        /// Urgent work is counted apart: a tenant's campaign must not delay its own one-time codes.
        var isPressing: Bool
    }

    private let policy: EnginePolicy
    private var held: [Holder: Int] = [:]
    package private(set) var total = 0

    package init(policy: EnginePolicy) { self.policy = policy }

    /// How many slots are free for work of this lane.
    package func free(in lane: Lane) -> Int {
        max(0, policy.slicesPerNode - (lane.isPressing ? 0 : policy.slicesReserved) - total)
    }

    /// How many slots the tenant may take now.
    package func quota(of tenant: TenantID, in lane: Lane) -> Int {
        let free = free(in: lane)
        let own = held(by: tenant, in: lane)
        return max(0, min(policy.slicesPerTenant - own, (free - own + 1) / 2, free))
    }

    /// How many slots the tenant has for work of this lane.
    package func held(by tenant: TenantID, in lane: Lane) -> Int {
        held[Holder(tenant: tenant, isPressing: lane.isPressing)] ?? 0
    }

    package mutating func take(_ tenant: TenantID, _ lane: Lane) {
        held[Holder(tenant: tenant, isPressing: lane.isPressing), default: 0] += 1
        total += 1
    }

    package mutating func giveBack(_ tenant: TenantID, _ lane: Lane) {
        let holder = Holder(tenant: tenant, isPressing: lane.isPressing)
        guard let own = held[holder] else { return }
        held[holder] = own > 1 ? own - 1 : nil
        total -= 1
    }
}

extension Lane {
    /// Somebody waits for it now.
    var isPressing: Bool {
        switch self {
        case .urgent, .transactional: true
        case .bulk, .background: false
        }
    }
}
