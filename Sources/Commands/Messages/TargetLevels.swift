package import Model
import Store

/// The levels of identities that a message reaches (docs/security.md).
package struct TargetLevels: Sendable {
    /// Identities below this level are not reached.
    package var minimum: Assurance
    /// Whether identities below the highest level of their user or phone are reached too.
    package var isMixed: Bool

    package init(minimum: Assurance = .claimed, isMixed: Bool = true) {
        self.minimum = minimum
        self.isMixed = isMixed
    }

    /// Whether the message reaches an identity of this level. `isOutranked`: its user or phone has an identity of a higher level.
    package func permit(_ level: Assurance, isOutranked: Bool) -> Bool {
        level >= minimum && (isMixed || !isOutranked)
    }

    /// Whether the message reaches the identity.
    func permit(_ found: ResolvedTarget) -> Bool { permit(found.assurance, isOutranked: found.isOutranked) }

    /// The identities of one user: those that the message reaches, and the others, both in order. Identities that are found by an alias may have several
    /// users, so their levels are compared here too.
    func divided(_ found: [ResolvedTarget]) -> (reached: [ResolvedTarget], withheld: [ResolvedTarget]) {
        let highest = isMixed ? minimum : max(minimum, found.map(\.assurance).max() ?? minimum)
        let isReached = { (target: ResolvedTarget) in target.assurance >= highest && permit(target) }
        return (found.filter(isReached), found.filter { !isReached($0) })
    }
}
