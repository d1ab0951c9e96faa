import Model
import NIOConcurrencyHelpers
import Observability
import Outgoing
import Secrets

/// The upstreams of all tenants that this node can call. `ProvisioningService` keeps them up to date.
final class OpenUpstreams: Sendable {
    struct Upstream: Sendable {
        let server: OutgoingServer
        /// Contains secrets.
        let settings: UpstreamSettings
    }

    /// The calls to them.
    let counts = UpstreamCallCounts()
    private struct State {
        var upstreams: [CredentialKey: Upstream] = [:]
        /// By the names under which their vendors report later.
        var reporting: [String: CredentialKey] = [:]
    }

    private let state = NIOLockedValueBox(State())
    /// Nil: no vendor reports later.
    private let keyRing: KeyRing?

    init(keyRing: KeyRing? = nil) {
        self.keyRing = keyRing
    }

    /// The upstream whose vendor reports under a name.
    func upstream(reportingAs id: String) -> Upstream? {
        state.withLockedValue { state in state.reporting[id].flatMap { state.upstreams[$0] } }
    }

    func upstream(_ key: CredentialKey) -> Upstream? { state.withLockedValue { $0.upstreams[key] } }

    func open(_ upstream: Upstream) {
        let key = upstream.server.credential
        let id = keyRing.map { UpstreamReportID(key, $0).text }
        state.withLockedValue { state in
            state.upstreams[key] = upstream
            if let id { state.reporting[id] = key }
        }
    }

    func remove(_ key: CredentialKey) {
        let id = keyRing.map { UpstreamReportID(key, $0).text }
        state.withLockedValue { state in
            state.upstreams[key] = nil
            if let id { state.reporting[id] = nil }
        }
        counts.forget(key)
    }
}
