package import DeliveryEngine
import Model
package import Store

extension DeliveryFacts {
    /// The parts that were shortened or left out to fit the size limit, separated by commas; nil: none.
    package var shortened: String? { TriedPath.reduced(in: reduced) }
}

extension DeliveryExplanation {
    /// The paths that the delivery tried, in their order, with the outcome of each. Empty: none yet, or the vendor sent it by itself.
    package var tried: [TriedPath] {
        let earlier = TriedPath.paths(in: delivery.reduced)
        guard let transport = delivery.transport, !transport.hasPrefix(FunnelFilter.observedPrefix) else {
            return earlier
        }
        let isUpstream = transport.hasPrefix(CredentialID.upstreamPrefix)
        let name = isUpstream ? String(transport.dropFirst(CredentialID.upstreamPrefix.count)) : transport
        // A delivery that ended on a path which carried nothing keeps the transport of an earlier one.
        guard !earlier.contains(where: { $0.path == name }) else { return earlier }
        return earlier + [TriedPath(name, outcome: lastOutcome)]
    }

    /// The outcome of the last path.
    private var lastOutcome: String {
        let snapshot = delivery.snapshot
        switch snapshot.state {
        case .sent where !delivery.isCertain: return snapshot.reason ?? "uncertain"
        case .sent, .received, .read: return DeliveryState.sent.rawValue
        case .queued, .failed, .suppressed, .expired, .canceled: return snapshot.reason ?? snapshot.state.rawValue
        }
    }

    /// Nil: only one path was tried, and the other lines state what became of it.
    var triedText: String? {
        guard !TriedPath.paths(in: delivery.reduced).isEmpty else { return nil }
        return tried.map { "\($0.path): \($0.outcome)" }.joined(separator: ", then ")
    }
}
