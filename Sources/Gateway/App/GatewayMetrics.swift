import APNs
import DeliveryEngine
import Metrics
import Model
import Observability
import PostgresClient

/// Gauges that are read at each scrape instead of being written at each change.
struct GatewayMetrics: Sendable {
    let engine: DeliveryEngine
    let transport: APNsTransport
    let call: PostgresPool
    let enginePool: PostgresPool
    let expiries: CredentialExpiries
    let sampler: DatabaseSampler

    private let callOpen = MetricName.databaseConnections.meter([("role", "call")])
    private let callWaiting = MetricName.databaseWaiting.meter([("role", "call")])
    private let engineOpen = MetricName.databaseConnections.meter([("role", "engine")])
    private let engineWaiting = MetricName.databaseWaiting.meter([("role", "engine")])

    init(
        engine: DeliveryEngine,
        transport: APNsTransport,
        call: PostgresPool,
        enginePool: PostgresPool,
        expiries: CredentialExpiries,
        sampler: DatabaseSampler
    ) {
        self.sampler = sampler
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
        engine.refreshMetrics()
        for pool in transport.pools { Self.show(pool) }
        expiries.show(at: engine.clock.now())
        let statistics = engine.statistics
        MetricName.doubtfulApps.meter().set(statistics.doubtfulApps.count)
        MetricName.refusedCredentials.meter().set(statistics.refusedCredentials.count)
        MetricName.refusedTopics.meter().set(statistics.refusedTopics.count)
        sampler.showAge()
    }

    /// Sets the gauges of a connection pool to Apple: one series for each credential and environment in use.
    private static func show(_ pool: APNsPoolState) {
        let labels = [("endpoint", pool.endpoint.authority), ("credential", pool.speaker)]
        func set(_ name: MetricName, _ value: Int, _ more: (String, String)...) {
            name.meter(labels + more).set(value)
        }
        let metrics = pool.metrics
        set(.apnsReachable, pool.status.isReachable ? 1 : 0)
        set(.apnsConnections, metrics.dialingConnectionCount, ("state", "dialing"))
        set(.apnsConnections, metrics.openConnectionCount, ("state", "open"))
        set(.apnsConnections, metrics.drainingConnectionCount, ("state", "draining"))
        set(.apnsStreamsInUse, metrics.inFlightCount)
        set(.apnsStreamsAllowed, metrics.allowedStreamCount)
        set(.apnsWaiting, metrics.queuedCount)
        set(.apnsOldestWait, Int(metrics.oldestWait.milliseconds))
        set(.apnsDials, metrics.connectCount)
        set(.apnsHandshakes, metrics.resumedHandshakeCount, ("kind", "resumed"))
        set(.apnsHandshakes, metrics.fullHandshakeCount, ("kind", "full"))
        set(.apnsProviderTokens, metrics.tokenCount)
        for (reason, count) in metrics.connectFailureCounts { set(.apnsDialFailures, count, ("reason", reason)) }
        for (reason, count) in metrics.goAwayCounts { set(.apnsGoAways, count, ("reason", reason)) }
    }
}
