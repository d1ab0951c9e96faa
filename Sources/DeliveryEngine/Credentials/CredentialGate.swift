package import Model

/// Controls the use of the credentials of this node: how many slices use each, and which are stopped.
///
/// A pure value; the engine keeps it behind its lock. It has an entry only for a credential that is in use or not working.
package struct CredentialGate: Sendable {
    private struct Entry {
        var breaker: CredentialBreaker
        var slices = 0
        /// Urgent work is counted separately: a campaign must not delay a one-time code through the same credential.
        var pressing = 0
        /// The time since which no slice has left, as observed by slices that were turned away.
        var fullSince: Timestamp?

        mutating func add(_ change: Int, _ lane: Lane) {
            if lane.isPressing { pressing = max(0, pressing + change) } else { slices = max(0, slices + change) }
        }

        var isUnused: Bool { slices == 0 && pressing == 0 && breaker.isIdle }
    }

    private let policy: EnginePolicy
    private var entries: [CredentialKey: Entry] = [:]

    package init(policy: EnginePolicy) { self.policy = policy }

    /// Credentials that the peer refused, with the rejection.
    package var refused: [CredentialKey: Rejection] { entries.compactMapValues(\.breaker.refusal) }

    /// Whether nothing is sent through `key` at present, except to probe it.
    package func isStopped(_ key: CredentialKey) -> Bool { entries[key]?.breaker.isStopped ?? false }

    /// Whether a slice may send through `key`. After `.go` and `.probe` the slice holds a place until `leave`.
    ///
    /// - Parameters:
    ///   - key: the credential.
    ///   - lane: the slice's lane.
    ///   - isHolder: whether the slice already holds a place and asks again, for resends.
    ///   - places: the number of slices for which its rate has work; nil: the credential has no rate.
    ///   - now: the database's time.
    /// - Returns: the permit of the breaker, or `.full`.
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
            // A credential with a rate will have a free place soon.
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

    /// The number of places used by the tenant's campaigns, if slices wait for a credential of the tenant and none leaves; otherwise nil.
    package func stuckPlaces(of tenant: TenantID, now: Timestamp) -> Int? {
        var count = 0
        var isStuck = false
        for (key, entry) in entries where key.tenant == tenant {
            count += entry.slices
            if let since = entry.fullSince, now - since > policy.fullRetry { isStuck = true }
        }
        return isStuck ? count : nil
    }

    /// Frees the slice's place at `key`.
    package mutating func leave(_ key: CredentialKey, lane: Lane) {
        guard var entry = entries[key] else { return }
        entry.add(-1, lane)
        entry.fullSince = nil
        entries[key] = entry.isUnused ? nil : entry
    }

    /// Updates the breaker after an outcome. Returns the change that must be recorded for the operator.
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

    /// The credential was replaced: its next slice may try at once.
    package mutating func forgive(_ key: CredentialKey) { entries[key]?.breaker.forgive() }
}
