import Model
import NIOConcurrencyHelpers
import Observability
import Outgoing

/// The upstreams of all tenants that this node can call. `ProvisioningService` keeps them up to date.
final class OpenUpstreams: Sendable {
    struct Upstream: Sendable {
        let server: OutgoingServer
        /// Contains secrets.
        let settings: UpstreamSettings
    }

    /// The calls to them.
    let counts = UpstreamCallCounts()
    private let upstreams = NIOLockedValueBox<[CredentialKey: Upstream]>([:])

    func upstream(_ key: CredentialKey) -> Upstream? { upstreams.withLockedValue { $0[key] } }

    func open(_ upstream: Upstream) { upstreams.withLockedValue { $0[upstream.server.credential] = upstream } }

    func remove(_ key: CredentialKey) {
        upstreams.withLockedValue { _ = $0.removeValue(forKey: key) }
        counts.forget(key)
    }
}
