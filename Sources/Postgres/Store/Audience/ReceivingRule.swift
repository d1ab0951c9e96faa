package import Model

/// Decides which identity of a device receives a send that reaches every dialect (docs/schema.md#the-identity-that-receives-a-send).
///
/// Audiences are decided by `gateway.receiving_identities`, lists of users by `receivers(among:)`. Both apply the same rule.
package struct ReceivingRule: Sendable, Hashable {
    /// The dialects that are preferred, in this order, to the identity that was seen last. Others come behind them.
    package var preferred: [Vendor]
    /// Whether the message is also for users who have withdrawn. If not, such an identity is not replaced, so that the push is suppressed.
    package var includesWithdrawn: Bool
    /// The lane of the message: statements add the dialects that the rules of the app prefer for it (`preferDialects`). Nil: they add none.
    package var lane: Lane?

    package init(preferred: [Vendor] = [], includesWithdrawn: Bool = false, lane: Lane? = nil) {
        self.preferred = preferred
        self.includesWithdrawn = includesWithdrawn
        self.lane = lane
    }

    /// One identity per device.
    ///
    /// - Parameter found: identities of one user, ordered by their ids.
    /// - Returns: the receiving identities, in the places where their devices appear first. Identities without a device stay.
    package func receivers(among found: [ResolvedTarget]) -> [ResolvedTarget] {
        var places: [DeviceID: Int] = [:]
        var groups: [[ResolvedTarget]] = []
        for target in found {
            if let device = target.device, let place = places[device] {
                groups[place].append(target)
            } else {
                if let device = target.device { places[device] = groups.count }
                groups.append([target])
            }
        }
        return groups.compactMap(receiver)
    }

    /// The receiving identity among all of one device; nil if there is none.
    private func receiver(among group: [ResolvedTarget]) -> ResolvedTarget? {
        // The identity by which an expansion selects the device (`meant`).
        guard let level = group.map(\.assurance).max(), let matched = group.first(where: { $0.assurance == level })
        else { return nil }
        if matched.hasWithdrawn && !includesWithdrawn { return matched }
        let candidates = group.filter { $0.assurance == level && !$0.hasEnded }
        return candidates.max { isBehind($0, $1) } ?? matched
    }

    private func isBehind(_ one: ResolvedTarget, _ other: ResolvedTarget) -> Bool {
        let (left, right) = (rank(one), rank(other))
        if left != right { return left > right }
        return (one.lastSeen, one.identity) < (other.lastSeen, other.identity)
    }

    private func rank(_ target: ResolvedTarget) -> Int {
        preferred.firstIndex(of: target.dialect) ?? preferred.count
    }
}
