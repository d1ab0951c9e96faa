package import Model

/// Lets tenants come in turn, counted in targets: who took more than a round's share waits until the others have had theirs.
///
/// Deficit round robin (Shreedhar and Varghese, 1995), settled after the claim, because only then it is known how many targets its slices have. A pure value.
package struct TenantTurns: Sendable {
    private struct Turn: Sendable {
        var last: TenantID?
        /// What a tenant may still take; below zero: it took ahead. Not there: nothing owed.
        var credits: [TenantID: Int] = [:]
    }

    /// Targets that each tenant may take in a round.
    private let share: Int
    private var turns: [Lane: Turn] = [:]

    package init(share: Int) { self.share = max(1, share) }

    /// Begins a round among `tenants`, who have work: those who may take something, each once, in their order, which begins after the one that was
    /// served last.
    package mutating func round(_ tenants: [TenantID], in lane: Lane) -> [TenantID] {
        let sorted = Set(tenants).sorted()
        guard !sorted.isEmpty else { return [] }
        var turn = turns[lane] ?? Turn()
        // Where all took ahead, the rounds that nobody could use are skipped.
        let best = sorted.map { turn.credits[$0] ?? 0 }.max() ?? 0
        let rounds = 1 + max(0, -best) / share
        for tenant in Set(sorted).union(turn.credits.keys) {
            // Nobody saves up; who has no work now only pays back.
            let credit = min((turn.credits[tenant] ?? 0) + rounds * share, share)
            turn.credits[tenant] = credit < share || sorted.contains(tenant) ? credit : nil
        }
        turns[lane] = turn
        let start = turn.last.flatMap { last in sorted.firstIndex { $0 > last } } ?? 0
        return (sorted[start...] + sorted[..<start]).filter { turn.credits[$0] ?? 0 > 0 }
    }

    /// The tenant took `targets` in its turn.
    package mutating func served(_ tenant: TenantID, _ targets: Int, in lane: Lane) {
        turns[lane, default: Turn()].last = tenant
        turns[lane, default: Turn()].credits[tenant, default: 0] -= targets
    }
}
