import HummingbirdCore
import Metrics
import Observability

/// The open connections of one listener: counted for the metrics, and never more than `maximum`.
struct CountedConnections: AvailableConnectionsDelegate {
    private let maximum: Int
    private let open: Meter
    private var count = 0

    /// - Parameters:
    ///   - kind: the purpose of the listener.
    ///   - address: as it was set, so that the series stay the same with a port that the system chooses. Only listeners with such a port can share a series.
    ///   - maximum: above it, new connections wait.
    init(_ kind: Listener.Kind, on address: ListenAddress, maximum: Int) {
        self.maximum = maximum
        let labels = [("listener", kind.rawValue), ("address", address.description)]
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
