import AsyncHTTPClient
import Model
import NIOConcurrencyHelpers

/// The clients whose connections stay open between calls. Each belongs to one URL and one address, and connects to nothing else. An attempt checks its
/// address before it asks for the client, so it never uses a connection to another address.
final class PinnedClients: Sendable {
    struct Key: Hashable {
        var url: String
        var address: IPAddress
    }

    /// A client that shuts down when it is neither kept nor in use.
    final class Pin: Sendable {
        let client: HTTPClient

        init(_ client: HTTPClient) { self.client = client }

        deinit {
            Task { [client] in try? await client.shutdown() }
        }
    }

    private struct State {
        var pins: [Key: Pin] = [:]
        /// The keys in the order of their last use.
        var order: [Key] = []
    }

    /// 64 clients, as many as a node makes concurrent calls: an unused one holds memory. The one that was not used for the longest time makes room.
    private static let limit = 64

    private let state = NIOLockedValueBox(State())

    /// The client of `key`, made by `make` if none is kept.
    func client(_ key: Key, _ make: () -> HTTPClient) -> Pin {
        state.withLockedValue { state in
            state.order.removeAll { $0 == key }
            state.order.append(key)
            if let pin = state.pins[key] { return pin }
            let pin = Pin(make())
            state.pins[key] = pin
            if state.order.count > Self.limit { state.pins[state.order.removeFirst()] = nil }
            return pin
        }
    }
}
