package import Model

/// The one door to the credentials of this node: how many slices use each, and which are stopped.
///
/// A pure value; the engine keeps it behind its lock. Holds an entry only for a credential that is in use or in trouble.
package struct CredentialGate: Sendable {
    private struct Entry {
        var breaker: CredentialBreaker
        var slices = 0
    }

    private let policy: EnginePolicy
    private var entries: [CredentialKey: Entry] = [:]

    package init(policy: EnginePolicy) { self.policy = policy }

    /// Credentials that the peer refused, with its words.
    package var refused: [CredentialKey: Rejection] { entries.compactMapValues(\.breaker.refusal) }

    /// Whether a slice may send through `key`. After `.go` and `.probe` the slice holds a place until `leave`.
    ///
    /// - Parameters:
    ///   - key: the credential.
    ///   - isHolder: the slice holds a place already and asks again, for resends.
    ///   - now: the database's time.
    /// - Returns: the breaker's word, or `.full`.
    package mutating func enter(_ key: CredentialKey, isHolder: Bool, now: Timestamp) -> Permit {
        var entry = entries[key] ?? Entry(breaker: CredentialBreaker(policy: policy.retry))
        if !isHolder && entry.slices >= policy.slicesPerCredential { return .full(for: policy.fullRetry) }
        let permit = entry.breaker.permit(now: now, probeLimit: policy.pushDeadline)
        switch permit {
        case .go, .probe:
            if !isHolder { entry.slices += 1 }
            entries[key] = entry
        case .stopped, .full: break
        }
        return permit
    }

    /// A slice is done with `key`.
    package mutating func leave(_ key: CredentialKey) {
        guard var entry = entries[key] else { return }
        entry.slices = max(0, entry.slices - 1)
        entries[key] = entry.slices == 0 && entry.breaker.isIdle ? nil : entry
    }

    /// Learns from outcomes; says what must be noted for the operator.
    package mutating func observed(
        _ key: CredentialKey,
        _ sign: CredentialSign,
        now: Timestamp
    ) -> CredentialBreaker.Change? {
        var entry = entries[key] ?? Entry(breaker: CredentialBreaker(policy: policy.retry))
        let change = entry.breaker.observed(sign, now: now)
        entries[key] = entry.slices == 0 && entry.breaker.isIdle ? nil : entry
        return change
    }

    /// The credential was provisioned anew: its next slice may try at once.
    package mutating func forgive(_ key: CredentialKey) { entries[key]?.breaker.forgive() }
}
