import AsyncHTTPClient
import HTTPTypes
package import Model
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Calls upstreams over kept connections, HTTP/2 where the upstream offers it and HTTP/1.1 otherwise.
///
/// The address of the host is checked at every call and the connection goes to exactly that address, while name, certificate and Host header are those of the
/// server's URL. So a name that resolves differently later has no effect. Certificates are always verified; plain HTTP is only for addresses that the
/// operator allows. Redirects are not followed, and no request is repeated.
package final class OutgoingClient: Sendable {
    private let addressGuard: AddressGuard
    private let limits: OutgoingLimits
    private let addresses: HostAddresses
    private let gate: CallGate
    private let pinned: PinnedClients
    private let forms = RequestForms()

    /// - Parameters:
    ///   - addressGuard: decides to which addresses calls may go.
    ///   - resolver: finds the address of a host.
    ///   - limits: the limits of the calls.
    package init(
        addressGuard: AddressGuard,
        resolver: any HostResolver = SystemResolver(),
        limits: OutgoingLimits = OutgoingLimits()
    ) {
        self.addressGuard = addressGuard
        self.limits = limits
        addresses = HostAddresses(resolver, age: limits.addressAge)
        gate = CallGate(limit: limits.inFlight)
        pinned = PinnedClients(limit: limits.clients)
    }

    /// The calls of a credential that are in flight.
    package func inFlight(_ credential: CredentialKey) -> Int { gate.count(of: credential) }

    /// Makes one call and returns when the head of the answer has arrived, or the whole answer if it is collected. Otherwise the body follows within the time of
    /// the call.
    ///
    /// - Parameters:
    ///   - request: the call.
    ///   - server: the upstream.
    ///   - limit: a shorter time for the whole call than `OutgoingLimits.call`; nil: that time.
    ///   - collectedBytes: an answer whose stated length is not above this is returned as a whole, which costs less than a stream. If it breaks, its head is
    ///     returned, and reading its body throws. Nil: every answer is streamed.
    /// - Returns: the head of the answer, with its body.
    /// - Throws: `OutgoingError`. `isUnsent` says whether the upstream may have received the request.
    package func call(
        _ request: OutgoingRequest,
        to server: OutgoingServer,
        within limit: Duration? = nil,
        collecting collectedBytes: Int? = nil
    ) async throws(OutgoingError) -> OutgoingResponse {
        guard gate.begin(server.credential) else { throw .busy }
        // The caller's event loop if it runs on one, so that the call does not change threads.
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let time = min(limit ?? limits.call, limits.call)
        let deadline = NIODeadline.now() + .milliseconds(time.milliseconds)
        let exchange = OutgoingExchange(
            on: loop,
            hasBody: !request.body.isEmpty,
            bodyLimitBytes: limits.bodyBytes,
            collectedBytes: collectedBytes,
            deadline: deadline
        )
        let call: HTTPClient.Task<Void>
        do throws(OutgoingError) {
            call = try await start(request, to: server, exchange, on: loop, until: deadline)
        } catch {
            exchange.abandon()
            gate.end(server.credential)
            throw error
        }
        return try await exchange.response(of: call)
    }

    /// Checks the address and starts the call. From then on the end of the call frees its place.
    private func start(
        _ request: OutgoingRequest,
        to server: OutgoingServer,
        _ exchange: OutgoingExchange,
        on loop: any EventLoop,
        until deadline: NIODeadline
    ) async throws(OutgoingError) -> HTTPClient.Task<Void> {
        guard let address = await addresses.address(of: server.url.host, within: limits.connect) else {
            throw .unresolved
        }
        guard addressGuard.permits(address), server.url.isSecure || addressGuard.allows(address) else {
            throw .forbidden
        }
        let prepared = try prepared(request, to: server, exchange)
        let pin = pinned.client(try Self.key(of: server, at: address)) { client(for: server, at: address) }
        let call = pin.client.execute(
            request: prepared,
            delegate: exchange,
            eventLoop: .delegate(on: loop),
            deadline: deadline
        )
        let (gate, key) = (gate, server.credential)
        // The client lives at least as long as its call.
        call.futureResult.whenComplete { [pin] result in
            exchange.ended(result)
            gate.end(key)
            withExtendedLifetime(pin) {}
        }
        return call
    }

    /// The request as the client sends it.
    private func prepared(
        _ request: OutgoingRequest,
        to server: OutgoingServer,
        _ exchange: OutgoingExchange
    ) throws(OutgoingError) -> HTTPClient.Request {
        var prepared = try forms.form(of: request, to: server)
        var headers = HTTPHeaders()
        // The client adds two: host and length.
        headers.reserveCapacity(request.fields.count + 2)
        // The host is that of the server.
        for field in request.fields where field.name.canonicalName != "host" {
            headers.add(name: field.name.rawName, value: field.value)
        }
        prepared.headers = headers
        guard !request.body.isEmpty else { return prepared }
        let buffer = ByteBuffer(bytes: request.body)
        prepared.body = .stream(contentLength: Int64(buffer.readableBytes)) { writer in
            exchange.bodyLeaves()
            return writer.write(.byteBuffer(buffer))
        }
        return prepared
    }

    private static func key(of server: OutgoingServer, at address: IPAddress) throws(OutgoingError) -> PinnedClients.Key
    {
        guard server.trustRoots == nil || server.roots != nil else { throw .invalid }
        return PinnedClients.Key(name: server.connections, address: address)
    }

    private func client(for server: OutgoingServer, at address: IPAddress) -> HTTPClient {
        var configuration = HTTPClient.Configuration.pinned(server.url, to: address, connect: limits.connect)
        var tls = TLSConfiguration.makeClientConfiguration()
        if let roots = server.roots { tls.trustRoots = .certificates(roots) }
        configuration.tlsConfiguration = tls
        configuration.connectionPool.idleTimeout = .milliseconds(limits.idle.milliseconds)
        // A connection for each call in flight, where the upstream speaks HTTP/1.1 only.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = limits.inFlight
        // The library's only way to its pipeline.
        configuration.http1_1ConnectionDebugInitializer = { FlushJoiner.join($0) }
        return HTTPClient(
            eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton),
            configuration: configuration
        )
    }
}
