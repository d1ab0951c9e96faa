package import Model

/// Leases that this node made at acceptance and passed on in memory, until a slot is free: by lane, with tenants taking turns, in order.
///
/// Bounded by `offerLimit`. A pure value.
package struct OfferedSlices: Sendable {
    private struct LeaseQueue {
        var leases: [SliceLease] = []
        /// The leases before this index have been taken.
        var head = 0
    }

    private let limit: Int
    private var lines: [Lane: [TenantID: LeaseQueue]] = [:]
    /// The tenants in order of their turns.
    private var turns: [Lane: [TenantID]] = [:]
    package private(set) var count = 0

    package init(limit: Int) { self.limit = limit }

    /// Accepts the lease; false if the bound is reached.
    package mutating func offer(_ lease: SliceLease) -> Bool {
        guard count < limit else { return false }
        let tenant = lease.key.tenant
        if lines[lease.lane]?[tenant] == nil { turns[lease.lane, default: []].append(tenant) }
        lines[lease.lane, default: [:]][tenant, default: LeaseQueue()].leases.append(lease)
        count += 1
        return true
    }

    /// The next lease of the lane whose tenant has a slot; the tenant then moves to the end of the order.
    package mutating func next(in lane: Lane, where hasSlot: (TenantID) -> Bool) -> SliceLease? {
        guard let place = turns[lane]?.firstIndex(where: hasSlot), let tenant = turns[lane]?.remove(at: place),
            var line = lines[lane]?[tenant], line.head < line.leases.count
        else { return nil }
        let lease = line.leases[line.head]
        line.head += 1
        count -= 1
        if line.head == line.leases.count {
            lines[lane]?[tenant] = nil
        } else {
            lines[lane]?[tenant] = line
            turns[lane]?.append(tenant)
        }
        return lease
    }

    /// All waiting leases; they must be renewed too.
    package var leases: [SliceLease] { lines.values.flatMap(\.values).flatMap { $0.leases[$0.head...] } }

    /// Whether a slice of the message is waiting.
    package func contains(_ message: MessageID, of tenant: TenantID) -> Bool {
        lines.values.contains { line in
            line[tenant].map { $0.leases[$0.head...].contains { $0.key.message == message } } ?? false
        }
    }

    /// Removes leases that this node has lost.
    package mutating func remove(_ keys: Set<SliceKey>) {
        let left = leases.filter { !keys.contains($0.key) }
        self = OfferedSlices(limit: limit)
        for lease in left { _ = offer(lease) }
    }

    /// Removes and returns all leases.
    package mutating func takeAll() -> [SliceLease] {
        defer { self = OfferedSlices(limit: limit) }
        return leases
    }
}
