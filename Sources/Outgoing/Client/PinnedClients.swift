package import AsyncHTTPClient
package import Model
import NIOConcurrencyHelpers
import NIOCore

/// The clients whose connections stay open between calls. Each belongs to one name and one address, and connects to nothing else. An attempt checks its
/// address before it asks for the client, so it never uses a connection to another address.
package final class PinnedClients: Sendable {
    /// The use of a client.
    package struct Key: Sendable, Hashable {
        /// Everything except the address: the URL, and what else makes its connections differ.
        package var name: String
        package var address: IPAddress

        package init(name: String, address: IPAddress) {
            self.name = name
            self.address = address
        }
    }

    private struct Entry {
        let pin: OwnedClient
        /// The number of its last use.
        var use: UInt64
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var uses: UInt64 = 0
    }

    private let limit: Int
    private let state = NIOLockedValueBox(State())

    /// - Parameter limit: the clients that are kept: an unused one holds memory. The one that was not used for the longest time makes room.
    package init(limit: Int) { self.limit = limit }

    /// The client of `key`, made by `make` if none is kept. It shuts down when it is neither kept nor in use.
    package func client(_ key: Key, _ make: () -> HTTPClient) -> OwnedClient {
        state.withLockedValue { state in
            state.uses += 1
            if let index = state.entries.index(forKey: key) {
                state.entries.values[index].use = state.uses
                return state.entries.values[index].pin
            }
            let pin = OwnedClient(make())
            state.entries[key] = Entry(pin: pin, use: state.uses)
            if state.entries.count > limit, let oldest = state.entries.min(by: { $0.value.use < $1.value.use }) {
                state.entries[oldest.key] = nil
            }
            return pin
        }
    }
}

extension HTTPClient.Configuration {
    /// A client that connects `url`'s host to exactly `address`, whatever a name server says. Name, certificate and Host header are those of the URL. It follows no
    /// redirect, because nobody has checked where that leads, inflates nothing, and repeats nothing.
    package static func pinned(
        _ url: OutgoingURL,
        to address: IPAddress,
        connect: Duration,
        read: Duration? = nil
    ) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: HTTPClient.Configuration.Timeout(
                connect: .milliseconds(connect.milliseconds),
                read: read.map { .milliseconds($0.milliseconds) }
            ),
            decompression: .disabled
        )
        configuration.connectionPool.retryConnectionEstablishment = false
        // The gateway traces its calls itself. The library would write the attributes of a span for each one, also where nothing is traced.
        configuration.tracing.tracer = nil
        configuration.dnsOverride = [url.host: address.description]
        return configuration
    }
}
