package import Model

/// Lets tenants take turns, counted in targets: a tenant that took more than its share of a round waits until the others have had theirs.
///
/// Deficit round robin (Shreedhar and Varghese, 1995), settled after the claim, because the number of targets is unknown before it. A pure value.
package struct TenantTurns: Sendable {
    private struct Turn: Sendable {
        var last: TenantID?
        /// The number of targets that a tenant may still take; negative if it took more than its share. No entry means 0.
        var credits: [TenantID: Int] = [:]
    }

    /// Targets that each tenant may take in a round.
    private let share: Int
    private var turns: [Lane: Turn] = [:]

    package init(share: Int) { self.share = max(1, share) }

    /// Starts a round among `tenants`, which have work. Returns those that may take targets, each once, in their order, which starts after the tenant
    /// that was served last.
    package mutating func round(_ tenants: [TenantID], in lane: Lane) -> [TenantID] {
        let sorted = Set(tenants).sorted()
        guard !sorted.isEmpty else { return [] }
        var turn = turns[lane] ?? Turn()
        // If all tenants exceeded their shares, the rounds that none could use are skipped.
        let best = sorted.map { turn.credits[$0] ?? 0 }.max() ?? 0
        let rounds = 1 + max(0, -best) / share
        for tenant in Set(sorted).union(turn.credits.keys) {
            // Unused shares are not saved: a tenant without work only repays its excess.
            let credit = min((turn.credits[tenant] ?? 0) + rounds * share, share)
            turn.credits[tenant] = credit < share || sorted.contains(tenant) ? credit : nil
        }
        turns[lane] = turn
        let start = turn.last.flatMap { last in sorted.firstIndex { $0 > last } } ?? 0
        return (sorted[start...] + sorted[..<start]).filter { turn.credits[$0] ?? 0 > 0 }
    }

    /// Records that the tenant took `targets` in its turn.
    package mutating func served(_ tenant: TenantID, _ targets: Int, in lane: Lane) {
        turns[lane, default: Turn()].last = tenant
        turns[lane, default: Turn()].credits[tenant, default: 0] -= targets
    }
}
