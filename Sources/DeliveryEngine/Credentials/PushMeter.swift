package import Model

/// A limit of pushes per second over all nodes of the cluster, identified by the name of its budget.
package struct PushRate: Sendable, Hashable {
    package var budget: String
    package var perSecond: Int32

    /// The rate of all pushes of a tenant.
    package static func tenant(_ perSecond: Int32) -> PushRate { PushRate(budget: tenantBudget, perSecond: perSecond) }

    /// The rate of all pushes through one credential.
    package static func credential(_ id: CredentialID, _ perSecond: Int32) -> PushRate {
        PushRate(budget: budget(of: id), perSecond: perSecond)
    }

    package static let tenantBudget = "tenant"

    package static func budget(of credential: CredentialID) -> String { "credential/\(credential)" }
}

/// A request for up to `count` pushes through `key`, counted against each of `rates`.
package struct BudgetDraw: Sendable, Hashable {
    package var key: CredentialKey
    package var rates: [PushRate]
    package var count: Int32

    /// A draw may reach 250 ms ahead. If less, a late draw loses part of the rate; if more, one node holds pushes that another needs.
    package static let ahead = Duration.milliseconds(250)
    /// Up to 500 ms of an unused budget is kept. If more, a pause is followed by a burst.
    package static let saved = Duration.milliseconds(500)

    package init(key: CredentialKey, rates: [PushRate], count: Int32) {
        self.key = key
        self.rates = rates
        self.count = count
    }
}

/// The number of pushes that this node may send now through credentials that have a rate: those drawn from the cluster's budgets and not used yet.
///
/// A slice that finds none records how many it wants; the engine draws for all slices at once, and they ask again. Urgent work has priority. A pure
/// value; the engine keeps it behind its lock.
package struct PushMeter: Sendable {
    private struct Entry {
        var rates: [PushRate]
        var held: Int32 = 0
        var heldUntil = Timestamp(milliseconds: 0)
        /// The part of `held`, or of the next draw, that campaigns may not use.
        var reserved: Int32 = 0
        var wanted: Int32 = 0
        var wantedUrgently: Int32 = 0
    }

    /// 1 s during which drawn pushes may be used. Unused ones are lost after it instead of being saved for a burst.
    package static let lifetime = Duration.seconds(1)
    /// At most 10,000 pushes per draw: 20 slices.
    package static let drawLimit: Int32 = 10_000
    /// The slices running through one credential should send their pushes within 5 s. More slices would only hold memory and leases.
    package static let horizon = Duration.seconds(5)

    private var entries: [CredentialKey: Entry] = [:]

    package init() {}

    /// Replaces all limits.
    package mutating func limit(_ limits: [CredentialKey: [PushRate]]) {
        for key in entries.keys where limits[key] == nil { entries[key] = nil }
        for (key, rates) in limits where !rates.isEmpty {
            entries[key, default: Entry(rates: rates)].rates = rates
        }
    }

    /// The number of pushes or calls for which `key` has work within the horizon; nil: it has no rate.
    package func capacity(of key: CredentialKey) -> Int? {
        guard let rate = entries[key]?.rates.map(\.perSecond).min() else { return nil }
        return max(1, Int(rate) * Int(Self.horizon.components.seconds))
    }

    /// Takes up to `count` pushes and returns their number; nil: all may be sent, because the credential has no rate. The missing ones are recorded as wanted.
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

    /// Returns the recorded wants and clears them: slices that still wait ask again.
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

    /// Adds the pushes of an answered draw.
    package mutating func granted(_ count: Int32, _ key: CredentialKey, now: Timestamp) {
        guard count > 0, let entry = entries[key] else { return }
        let left = now >= entry.heldUntil ? 0 : entry.held
        entries[key]?.held = min(Self.drawLimit * 2, left + count)
        entries[key]?.heldUntil = now + Self.lifetime
    }
}
