package import Model

/// A limit of pushes per second over all nodes of the cluster, by the name of its budget.
package struct PushRate: Sendable, Hashable {
    package var budget: String
    package var perSecond: Int32

    /// Everything a tenant sends.
    package static func tenant(_ perSecond: Int32) -> PushRate { PushRate(budget: "tenant", perSecond: perSecond) }

    /// What goes through one credential.
    package static func credential(_ id: CredentialID, _ perSecond: Int32) -> PushRate {
        PushRate(budget: "credential/\(id)", perSecond: perSecond)
    }
}

/// A wish: up to `count` pushes through `key`, out of each of `rates` alike.
package struct BudgetDraw: Sendable, Hashable {
    package var key: CredentialKey
    package var rates: [PushRate]
    package var count: Int32

    /// 250 ms that a draw may reach ahead. Less, and a late look loses some of the rate; more, and one node holds what another needs.
    package static let ahead = Duration.milliseconds(250)
    /// 500 ms of what nobody drew in time is not lost. More, and a pause is followed by a burst.
    package static let saved = Duration.milliseconds(500)

    package init(key: CredentialKey, rates: [PushRate], count: Int32) {
        self.key = key
        self.rates = rates
        self.count = count
    }
}

/// How many pushes this node may send now through credentials that have a rate: what it drew from the cluster's budgets and has not used.
///
/// Slices that find nothing say how much they want; the engine draws for all of them at once, and they ask again. Urgent work comes first.
/// A pure value; the engine keeps it behind its lock.
package struct PushMeter: Sendable {
    private struct Entry {
        var rates: [PushRate]
        var held: Int32 = 0
        var heldUntil = Timestamp(milliseconds: 0)
        /// Of `held` or of what is drawn next: not for a campaign.
        var reserved: Int32 = 0
        var wanted: Int32 = 0
        var wantedUrgently: Int32 = 0
    }

    /// 1 s that a draw may be used: what a node has and nobody needs is lost after it, not saved up for a burst.
    package static let lifetime = Duration.seconds(1)
    /// 10,000 pushes per draw: 20 slices.
    package static let drawLimit: Int32 = 10_000
    /// 5 s in which the slices at work through one credential should have sent what they hold. More slices would only hold memory and leases.
    package static let horizon = Duration.seconds(5)

    private var entries: [CredentialKey: Entry] = [:]

    package init() {}

    /// What is limited from now on, all of it.
    package mutating func limit(_ limits: [CredentialKey: [PushRate]]) {
        for key in entries.keys where limits[key] == nil { entries[key] = nil }
        for (key, rates) in limits where !rates.isEmpty {
            entries[key, default: Entry(rates: rates)].rates = rates
        }
    }

    /// How many slices may be at work through `key`; nil: it has no rate.
    package func places(_ key: CredentialKey) -> Int? {
        guard let rate = entries[key]?.rates.map(\.perSecond).min() else { return nil }
        let pushes = Int(rate) * Int(Self.horizon.components.seconds)
        return max(1, (pushes + SliceLease.targetLimit - 1) / SliceLease.targetLimit)
    }

    /// How many of `count` may be sent now; nil: all, there is no rate. What is missing is wished for.
    package mutating func take(_ count: Int, _ key: CredentialKey, _ lane: Lane, now: Timestamp) -> Int? {
        guard var entry = entries[key] else { return nil }
        if now >= entry.heldUntil { entry.held = 0 }
        let count = min(Self.drawLimit, Int32(clamping: max(0, count)))
        let free = lane.isPressing ? entry.held : max(0, entry.held - entry.reserved)
        let taken = min(count, free)
        entry.held -= taken
        if lane.isPressing {
            entry.reserved = max(0, entry.reserved - taken)
            entry.wantedUrgently = min(Self.drawLimit, entry.wantedUrgently + count - taken)
        } else {
            entry.wanted = min(Self.drawLimit, entry.wanted + count - taken)
        }
        entries[key] = entry
        return Int(taken)
    }

    /// What is wished for, and forgets it: who still waits asks again.
    package mutating func draws() -> [BudgetDraw] {
        var draws: [BudgetDraw] = []
        for (key, entry) in entries where entry.wanted + entry.wantedUrgently > 0 {
            let count = min(Self.drawLimit, entry.wanted + entry.wantedUrgently)
            draws.append(BudgetDraw(key: key, rates: entry.rates, count: count))
            entries[key]?.reserved = entry.wantedUrgently
            entries[key]?.wanted = 0
            entries[key]?.wantedUrgently = 0
        }
        return draws
    }

    /// A draw was answered.
    package mutating func granted(_ count: Int32, _ key: CredentialKey, now: Timestamp) {
        guard count > 0, let entry = entries[key] else { return }
        let left = now >= entry.heldUntil ? 0 : entry.held
        entries[key]?.held = min(Self.drawLimit * 2, left + count)
        entries[key]?.heldUntil = now + Self.lifetime
    }
}
