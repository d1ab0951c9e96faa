package import Model

/// Distributes a node's capacity so that no tenant and no campaign starves another. It is counted in targets, so that many small slices may wait for slow
/// answers together.
///
/// A tenant may start a slice only while more targets are free than it holds. A few busy tenants each get many; if many tenants hang, each holds few
/// and some are always free (Choudhury and Hahne, "Dynamic queue length thresholds", 1998). The size of a slice is unknown before it is claimed, so a limit
/// may be exceeded by less than one slice. A pure value.
package struct SliceShares: Sendable {
    private struct Share {
        var slices = 0
        var targets = 0
    }

    private let policy: EnginePolicy
    private var held: [TenantWork: Share] = [:]
    /// The targets of all slices.
    package private(set) var total = 0

    package init(policy: EnginePolicy) { self.policy = policy }

    /// The number of free targets for work of this lane.
    package func free(in lane: Lane) -> Int {
        max(0, policy.targetsPerNode - (lane.isPressing ? 0 : policy.targetsReserved) - total)
    }

    /// The number of slices that the tenant may start now, if each is as large as possible. Above zero: it may start one of any size.
    package func quota(of tenant: TenantID, in lane: Lane) -> Int {
        let own = held[TenantWork(tenant, lane)]?.targets ?? 0
        let size = SliceLease.targetLimit
        let left = max(0, policy.targetsPerTenant - own)
        // Each slice that is started is no longer free, and is held.
        let shared = max(0, free(in: lane) - own)
        return min((left + size - 1) / size, (shared + 2 * size - 1) / (2 * size))
    }

    /// The number of slices that the tenant runs for work of this lane.
    package func slices(of tenant: TenantID, in lane: Lane) -> Int { held[TenantWork(tenant, lane)]?.slices ?? 0 }

    /// The tenant starts a slice that counts as `targets`.
    package mutating func take(_ tenant: TenantID, _ lane: Lane, targets: Int) {
        held[TenantWork(tenant, lane), default: Share()].slices += 1
        held[TenantWork(tenant, lane), default: Share()].targets += targets
        total += targets
    }

    /// A slice that counts as `targets` has ended.
    package mutating func giveBack(_ tenant: TenantID, _ lane: Lane, targets: Int) {
        let work = TenantWork(tenant, lane)
        guard var own = held[work] else { return }
        own.slices -= 1
        own.targets -= targets
        held[work] = own.slices > 0 ? own : nil
        total -= targets
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

extension EnginePolicy {
    /// The number of targets that a slice counts as. An expansion counts as a full slice.
    func weight(of lease: SliceLease) -> Int {
        switch lease.work {
        case .expand: SliceLease.targetLimit
        case .deliver: max(leastTargets, lease.targets.count)
        }
    }
}
