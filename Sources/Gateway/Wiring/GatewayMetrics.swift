import APNs
import DeliveryEngine
import Metrics
import Postgres

/// Gauges that are read when somebody looks, not written when something happens.
struct GatewayMetrics: Sendable {
    let engine: DeliveryEngine
    let transport: APNsTransport
    let call: PostgresPool
    let enginePool: PostgresPool

    private let callOpen = Meter(label: "database_connections_open", dimensions: [("role", "call")])
    private let callWaiting = Meter(label: "database_waiting", dimensions: [("role", "call")])
    private let engineOpen = Meter(label: "database_connections_open", dimensions: [("role", "engine")])
    private let engineWaiting = Meter(label: "database_waiting", dimensions: [("role", "engine")])

    init(engine: DeliveryEngine, transport: APNsTransport, call: PostgresPool, enginePool: PostgresPool) {
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
    }
}
