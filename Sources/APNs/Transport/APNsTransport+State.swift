internal import NIOConcurrencyHelpers

/// The observable state of the transport, for metrics, `/readyz` and `doctor`.
extension APNsTransport {
    /// Each pool that a credential uses, in a stable order.
    package var pools: [APNsPoolState] {
        let pools = state.withLockedValue { Array($0.pools.values) }
        return pools.map(APNsPoolState.init).sorted { $0.name < $1.name }
    }
}

/// The health of one pool, which is one (host, port, team, key) or one (host, port, certificate).
package struct APNsPoolState: Sendable, Equatable {
    /// The address it connects to.
    package let endpoint: APNsEndpoint
    /// The team and key id, or `certificate` and the start of its fingerprint. It is suitable for a metric's label, because its values are as few as the
    /// credentials.
    package let speaker: String
    package let status: APNsStatus
    package let metrics: APNsMetrics

    /// Endpoint and speaker.
    package var name: String { "\(endpoint.authority) \(speaker)" }

    init(_ pool: ConnectionPool) {
        endpoint = pool.key.endpoint
        switch pool.key.speaker {
        case .key(let id):
            speaker = "\(id.teamID)/\(id.keyID)"
        case .certificate(let fingerprint):
            let start = fingerprint.prefix(6).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            speaker = "certificate/\(start)"
        }
        status = pool.status
        metrics = pool.metrics
    }
}
