import HummingbirdCore
import Metrics
import Observability

/// The open connections of one listener: counted for the metrics, and never more than `maximum`.
struct CountedConnections: AvailableConnectionsDelegate {
    private let maximum: Int
    private let open: Meter
    private var count = 0

    init(_ kind: Listener.Kind, maximum: Int) {
        self.maximum = maximum
        // Several listeners of one kind share the series.
        let labels = [("listener", kind.rawValue)]
        open = MetricName.listenerConnectionsOpen.meter(labels)
        MetricName.listenerConnectionsAllowed.meter(labels).increment(by: Double(maximum))
    }

    mutating func connectionOpened() {
        count += 1
        open.increment()
    }

    mutating func connectionClosed() {
        count -= 1
        open.decrement()
    }

    func isAcceptingNewConnections() -> Bool { count < maximum }
}
