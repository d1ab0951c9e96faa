import APNs
import DeliveryEngine
import Metrics
import Model
import Postgres

/// Gauges that are read when somebody looks, not written when something happens.
struct GatewayMetrics: Sendable {
    let engine: DeliveryEngine
    let transport: APNsTransport
    let call: PostgresPool
    let enginePool: PostgresPool
    let expiries: CredentialExpiries

    private let callOpen = Meter(label: "database_connections_open", dimensions: [("role", "call")])
    private let callWaiting = Meter(label: "database_waiting", dimensions: [("role", "call")])
    private let engineOpen = Meter(label: "database_connections_open", dimensions: [("role", "engine")])
    private let engineWaiting = Meter(label: "database_waiting", dimensions: [("role", "engine")])

    init(
        engine: DeliveryEngine,
        transport: APNsTransport,
        call: PostgresPool,
        enginePool: PostgresPool,
        expiries: CredentialExpiries
    ) {
        self.expiries = expiries
        self.engine = engine
        self.transport = transport
        self.call = call
        self.enginePool = enginePool
    }

    func refresh() {
        callOpen.set(call.statistics.openCount)
        callWaiting.set(call.statistics.waitingCount)
        engineOpen.set(enginePool.statistics.openCount)
        engineWaiting.set(enginePool.statistics.waitingCount)
        for pool in transport.pools { Self.show(pool) }
        expiries.show(at: engine.clock.now())
    }

    /// The way to Apple, per pool: one series for each credential and environment in use.
    private static func show(_ pool: APNsPoolState) {
        let labels = [("endpoint", pool.endpoint.authority), ("credential", pool.speaker)]
        func set(_ name: String, _ value: Int, _ more: (String, String)...) {
            Meter(label: "apns_" + name, dimensions: labels + more).set(value)
        }
        let metrics = pool.metrics
        set("reachable", pool.status.isReachable ? 1 : 0)
        set("connections", metrics.dialingConnectionCount, ("state", "dialing"))
        set("connections", metrics.openConnectionCount, ("state", "open"))
        set("connections", metrics.drainingConnectionCount, ("state", "draining"))
        set("streams_in_use", metrics.inFlightCount)
        set("streams_allowed", metrics.allowedStreamCount)
        set("waiting", metrics.queuedCount)
        set("oldest_wait_milliseconds", Int(metrics.oldestWait.milliseconds))
        set("dials", metrics.connectCount)
        set("handshakes", metrics.resumedHandshakeCount, ("kind", "resumed"))
        set("handshakes", metrics.fullHandshakeCount, ("kind", "full"))
        set("provider_tokens", metrics.tokenCount)
        for (reason, count) in metrics.connectFailureCounts { set("dial_failures", count, ("reason", reason)) }
        for (reason, count) in metrics.goAwayCounts { set("goaways", count, ("reason", reason)) }
    }
}
