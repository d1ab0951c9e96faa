import DeliveryEngine
import EngineStore
import Forwarding
import Logging
import Model
import Observability
import Outgoing
import ServiceLifecycle

// Calls that the gateway makes at upstreams by itself, through the client of proxied calls: all share its limits.
extension GatewayNode {
    /// Makes the calls by which upstreams send messages.
    static func sender(_ base: Base, _ proxy: UpstreamProxy, _ upstreams: OpenUpstreams) -> any UpstreamTransport {
        UpstreamSender(
            client: proxy.client,
            adapters: base.vendors.byVendor,
            name: proxy.name,
            clock: base.clock
        ) { key in
            upstreams.upstream(key).map { UpstreamForwardCaller.Target(server: $0.server, settings: $0.settings) }
        }
    }

    /// Makes the calls that were answered and wait for upstreams.
    func forwarder() -> any Service {
        let log = ForwardLog(logger: base.logger)
        let upstreams = provisioning.upstreams
        return Forwarder(
            store: PostgresForwardStore(engine: base.database.engine),
            caller: UpstreamForwardCaller(
                client: proxy.client,
                adapters: base.vendors.byVendor,
                name: proxy.name,
                clock: base.clock
            ) { key in
                upstreams.upstream(key).map { UpstreamForwardCaller.Target(server: $0.server, settings: $0.settings) }
            },
            node: base.node,
            policy: ForwardPolicy().scaled(by: base.configuration.retryScale),
            clock: ContinuousClock(),
            observe: { log.note($0) }
        )
    }
}
