package import Model

/// Decides which subscriptions are called next, and counts the calls in progress. Pure: it makes no calls and knows no clock.
///
/// Tenants take turns: of the subscriptions that are due, the next call goes to the tenant with the fewest calls in progress, then to the tenant whose
/// last turn is longest ago. No tenant and no host has more than its part of the calls, so that slow receivers of one tenant leave calls for the others.
package struct CallTurns: Sendable {
    /// The limits of concurrent calls.
    package struct Limits: Sendable, Hashable {
        package var total: Int
        package var perTenant: Int
        package var perHost: Int

        /// Each limit is at least 1, and none is above `total`.
        package init(total: Int, perTenant: Int, perHost: Int) {
            self.total = max(1, total)
            self.perTenant = min(self.total, max(1, perTenant))
            self.perHost = min(self.total, max(1, perHost))
        }
    }

    /// A limit that made a due subscription wait. The raw value is the label of a metric.
    package enum Limit: String, Sendable, CaseIterable {
        case node, tenant, host
    }

    private let limits: Limits
    private var used = 0
    private var byTenant: [TenantID: Int] = [:]
    private var byHost: [String: Int] = [:]
    /// The number of a tenant's last turn. Kept for tenants that are due or called.
    private var turns: [TenantID: UInt64] = [:]
    private var turn: UInt64 = 0
    /// The limits because of which the last `choose` left out due subscriptions.
    package private(set) var reached: Set<Limit> = []

    package init(_ limits: Limits) { self.limits = limits }

    /// The calls that may begin.
    package var free: Int { max(0, limits.total - used) }

    /// The indices of the subscriptions to call now, in the order of their turns. The order of `due` decides within a tenant. It takes no calls.
    package mutating func choose(from due: [DueSubscription]) -> [Int] {
        var waiting: [TenantID: ArraySlice<Int>] = [:]
        for (tenant, indices) in Dictionary(grouping: due.indices, by: { due[$0].tenant }) {
            waiting[tenant] = indices.sorted()[...]
        }
        turns = turns.filter { waiting[$0.key] != nil || byTenant[$0.key] != nil }
        var plan = self
        var chosen: [Int] = []
        reached = []
        while plan.free > 0, let tenant = plan.next(of: waiting.keys) {
            guard plan.byTenant[tenant, default: 0] < limits.perTenant else {
                waiting[tenant] = nil
                reached.insert(.tenant)
                continue
            }
            guard let place = waiting[tenant]?.firstIndex(where: { plan.room(due[$0]) > 0 }),
                let index = waiting[tenant]?[place]
            else {
                waiting[tenant] = nil
                reached.insert(.host)
                continue
            }
            waiting[tenant]?.remove(at: place)
            if waiting[tenant]?.isEmpty == true { waiting[tenant] = nil }
            plan.take(due[index], 1)
            chosen.append(index)
        }
        if !waiting.isEmpty { reached.insert(.node) }
        return chosen
    }

    /// Forgets what the last `choose` left out, because a later look failed.
    package mutating func forgetReached() { reached = [] }

    private func next(of tenants: some Collection<TenantID>) -> TenantID? {
        tenants.min { left, right in
            let calls = (byTenant[left, default: 0], byTenant[right, default: 0])
            let last = (turns[left, default: 0], turns[right, default: 0])
            return (calls.0, last.0, left.rawValue) < (calls.1, last.1, right.rawValue)
        }
    }

    /// How many calls may begin for a subscription.
    private func room(_ subscription: DueSubscription) -> Int {
        let tenant = limits.perTenant - byTenant[subscription.tenant, default: 0]
        let host = limits.perHost - byHost[subscription.host, default: 0]
        return max(0, min(free, tenant, host))
    }

    /// Begins calls.
    package mutating func take(_ subscription: DueSubscription, _ count: Int) {
        used += count
        byTenant[subscription.tenant, default: 0] += count
        byHost[subscription.host, default: 0] += count
        turn += 1
        turns[subscription.tenant] = turn
    }

    /// Begins up to `count` more calls for a subscription that makes several at once, but at most half of the free ones, so that another subscription
    /// finds one. Returns how many.
    package mutating func takeMore(_ subscription: DueSubscription, _ count: Int) -> Int {
        let more = max(0, min(count, free / 2, room(subscription)))
        if more > 0 { take(subscription, more) }
        return more
    }

    /// Ends calls. True if a subscription may be waiting for one of them.
    package mutating func giveBack(_ subscription: DueSubscription, _ count: Int) -> Bool {
        defer {
            used -= count
            Self.reduce(&byTenant, subscription.tenant, count)
            Self.reduce(&byHost, subscription.host, count)
        }
        return !reached.isEmpty || used >= limits.total
    }

    private static func reduce<Key: Hashable>(_ counts: inout [Key: Int], _ key: Key, _ count: Int) {
        let left = counts[key, default: 0] - count
        counts[key] = left > 0 ? left : nil
    }
}
