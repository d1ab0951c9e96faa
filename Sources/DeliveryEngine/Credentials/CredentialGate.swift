package import Model

/// The one door to the credentials of this node: how many slices use each, and which are stopped.
///
/// A pure value; the engine keeps it behind its lock. Holds an entry only for a credential that is in use or in trouble.
package struct CredentialGate: Sendable {
    private struct Entry {
        var breaker: CredentialBreaker
        var slices = 0
        /// Urgent work is counted apart: a campaign must not hold up a one-time code that goes the same way.
        var pressing = 0
        /// Since when nobody with a place has left, as seen by whom it turned away.
        var fullSince: Timestamp?

        mutating func add(_ change: Int, _ lane: Lane) {
            if lane.isPressing { pressing = max(0, pressing + change) } else { slices = max(0, slices + change) }
        }

        var isUnused: Bool { slices == 0 && pressing == 0 && breaker.isIdle }
    }

    private let policy: EnginePolicy
    private var entries: [CredentialKey: Entry] = [:]

    package init(policy: EnginePolicy) { self.policy = policy }

    /// Credentials that the peer refused, with its words.
    package var refused: [CredentialKey: Rejection] { entries.compactMapValues(\.breaker.refusal) }

    /// Whether nothing is sent through `key` now, but to probe it.
    package func isStopped(_ key: CredentialKey) -> Bool { entries[key]?.breaker.isStopped ?? false }

    /// Whether a slice may send through `key`. After `.go` and `.probe` the slice holds a place until `leave`.
    ///
    /// - Parameters:
    ///   - key: the credential.
    ///   - lane: of the slice.
    ///   - isHolder: the slice holds a place already and asks again, for resends.
    ///   - places: how many slices its rate has work for; nil: it has none.
    ///   - now: the database's time.
    /// - Returns: the breaker's word, or `.full`.
    package mutating func enter(
        _ key: CredentialKey,
        lane: Lane,
        isHolder: Bool,
        places: Int? = nil,
        now: Timestamp
    ) -> Permit {
        var entry = entries[key] ?? Entry(breaker: CredentialBreaker(policy: policy.retry))
        let count = lane.isPressing ? entry.pressing : entry.slices
        if !isHolder && count >= min(places ?? .max, policy.slicesPerCredential) {
            // One with a rate has a place soon.
            guard places == nil else { return .full(for: policy.fullRetry) }
            let since = entry.fullSince ?? now
            entry.fullSince = since
            entries[key] = entry
            return .full(for: min(max(policy.fullRetry, now - since), policy.fullLongest))
        }
        let permit = entry.breaker.permit(lane: lane, now: now, probeLimit: policy.pushDeadline)
        switch permit {
        case .go, .probe:
            if !isHolder { entry.add(1, lane) }
        case .stopped, .full, .metered: break
        }
        entries[key] = entry.isUnused ? nil : entry
        return permit
    }

    /// How many places the tenant's campaigns have, where nobody leaves a credential of it and others wait; else nil.
    package func stuckPlaces(of tenant: TenantID, now: Timestamp) -> Int? {
        var count = 0
        var isStuck = false
        for (key, entry) in entries where key.tenant == tenant {
            count += entry.slices
            if let since = entry.fullSince, now - since > policy.fullRetry { isStuck = true }
        }
        return isStuck ? count : nil
    }

    /// A slice is done with `key`.
    package mutating func leave(_ key: CredentialKey, lane: Lane) {
        guard var entry = entries[key] else { return }
        entry.add(-1, lane)
        entry.fullSince = nil
        entries[key] = entry.isUnused ? nil : entry
    }

    /// Learns from outcomes; says what must be noted for the operator.
    package mutating func observed(
        _ key: CredentialKey,
        _ sign: CredentialSign,
        now: Timestamp
    ) -> CredentialBreaker.Change? {
        var entry = entries[key] ?? Entry(breaker: CredentialBreaker(policy: policy.retry))
        let change = entry.breaker.observed(sign, now: now)
        entries[key] = entry.isUnused ? nil : entry
        return change
    }

    /// The credential was provisioned anew: its next slice may try at once.
    package mutating func forgive(_ key: CredentialKey) { entries[key]?.breaker.forgive() }
}
