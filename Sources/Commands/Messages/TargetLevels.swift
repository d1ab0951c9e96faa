import Model
import Store

/// The levels of identities that a message reaches (docs/security.md).
struct TargetLevels: Sendable {
    /// Identities below this level are not reached.
    var minimum = Assurance.claimed
    /// Whether identities below the highest level of their user or phone are reached too.
    var isMixed = true

    /// Whether the message reaches the identity.
    func permit(_ found: ResolvedTarget) -> Bool { found.assurance >= minimum && (isMixed || !found.isOutranked) }

    /// The identities of one user: those that the message reaches, and the others, both in order. Identities that are found by an alias may have several
    /// users, so their levels are compared here too.
    func divided(_ found: [ResolvedTarget]) -> (reached: [ResolvedTarget], withheld: [ResolvedTarget]) {
        let highest = isMixed ? minimum : max(minimum, found.map(\.assurance).max() ?? minimum)
        let isReached = { (target: ResolvedTarget) in target.assurance >= highest && permit(target) }
        return (found.filter(isReached), found.filter { !isReached($0) })
    }
}
