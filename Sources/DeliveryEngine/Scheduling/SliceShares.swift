package import Model

/// Distributes a node's slots so that no tenant and no campaign starves another.
///
/// A tenant may take a slot only while at least as many remain free as it holds. A few busy tenants each get many; if many tenants hang, each holds few
/// and a slot is always free (Choudhury and Hahne, "Dynamic queue length thresholds", 1998). A pure value.
package struct SliceShares: Sendable {
    private struct Holder: Hashable {
        var tenant: TenantID
        /// Urgent work is counted separately: a tenant's campaign must not delay its own one-time codes.
        var isPressing: Bool
    }

    private let policy: EnginePolicy
    private var held: [Holder: Int] = [:]
    package private(set) var total = 0

    package init(policy: EnginePolicy) { self.policy = policy }

    /// The number of free slots for work of this lane.
    package func free(in lane: Lane) -> Int {
        max(0, policy.slicesPerNode - (lane.isPressing ? 0 : policy.slicesReserved) - total)
    }

    /// The number of slots that the tenant may take now.
    package func quota(of tenant: TenantID, in lane: Lane) -> Int {
        let free = free(in: lane)
        let own = held(by: tenant, in: lane)
        return max(0, min(policy.slicesPerTenant - own, (free - own + 1) / 2, free))
    }

    /// The number of slots that the tenant holds for work of this lane.
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
    /// Whether a person is waiting for the message.
    var isPressing: Bool {
        switch self {
        case .urgent, .transactional: true
        case .bulk, .background: false
        }
    }
}
