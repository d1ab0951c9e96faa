package import Model
import NIOConcurrencyHelpers

/// Limits the calls of one address that are in flight to one upstream, so that one client cannot use up the calls that the upstream may have in flight on this node.
package final class UpstreamShares: Sendable {
    /// 64: a quarter of the calls of an upstream (`OutgoingLimits.inFlight`). Many phones may share an address, and a call takes a fraction of a second.
    package static let limit = 64

    private struct Key: Hashable {
        var upstream: CredentialKey
        var network: LimitedName
    }

    /// An entry exists only while a call is in flight.
    private let counts = NIOLockedValueBox<[Key: Int]>([:])

    package init() {}

    /// A place for a call of an address.
    ///
    /// - Parameters:
    ///   - address: the caller's.
    ///   - upstream: the upstream that gets the call.
    ///   - isLimited: false: there is always one.
    /// - Returns: nil if calls of its address have all places already.
    package func place(of address: String?, at upstream: CredentialKey, isLimited: Bool) -> HeldPermit? {
        guard isLimited else { return HeldPermit {} }
        let key = Key(upstream: upstream, network: .network(address))
        let isAdmitted = counts.withLockedValue { counts in
            let count = counts[key, default: 0]
            guard count < Self.limit else { return false }
            counts[key] = count + 1
            return true
        }
        return isAdmitted ? HeldPermit { [self] in end(key) } : nil
    }

    private func end(_ key: Key) {
        counts.withLockedValue { counts in
            let left = counts[key, default: 1] - 1
            counts[key] = left > 0 ? left : nil
        }
    }
}
