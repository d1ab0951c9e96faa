import AsyncHTTPClient
import Model
import NIOCore
import NIOHTTP1
import NIOPosix
package import Outgoing

/// Makes calls over HTTP/1.1, with one connection per attempt, or with kept connections for calls that follow each other.
///
/// The host's address is looked up and checked at every attempt, and the connection goes to exactly that address, while name, certificate and Host
/// header are those of the URL. A name that resolves differently the second time therefore has no effect. A client's lookup table is fixed when it is
/// created. So every attempt has its own client, and kept connections belong to a client for one URL and one checked address (`PinnedClients`).
package struct HTTPWebhookCaller: WebhookCaller {
    private let timeout: Duration
    private let idleTime: Duration
    private let addressGuard: AddressGuard
    private let resolver: any HostResolver
    private let group: MultiThreadedEventLoopGroup
    private let pinned = PinnedClients(limit: keptClients)

    /// 64 clients, as many as a node makes concurrent calls.
    private static let keptClients = 64
    /// 16 kept connections per URL: twice the parallel calls of one webhook, because two webhooks may have the same URL.
    private static let keptConnections = 16
    /// 64 KiB of an answer are read to keep its connection; the connection of a longer answer is closed.
    private static let answerLimitBytes = 64 << 10

    /// - Parameters:
    ///   - timeout: the time of an attempt.
    ///   - idleTime: the time without a call after which a kept connection is closed. 4 s: less than the time after which common servers close theirs.
    ///   - addressGuard: decides to which addresses calls may go.
    ///   - resolver: finds the address of a host.
    package init(
        timeout: Duration = .seconds(10),
        idleTime: Duration = .seconds(4),
        addressGuard: AddressGuard,
        resolver: any HostResolver = SystemResolver()
    ) {
        self.timeout = timeout
        self.idleTime = idleTime
        self.addressGuard = addressGuard
        self.resolver = resolver
        self.group = .singleton
    }

    package func post(_ call: WebhookCall) async -> CallOutcome {
        let deadline = ContinuousClock.now + timeout
        guard let target = OutgoingURL(call.url) else { return .forbidden }
        guard let address = await address(of: target) else { return .failed("no address") }
        guard addressGuard.permits(address) else { return .forbidden }
        let left = deadline - ContinuousClock.now
        guard left > .zero else { return .failed("timeout") }
        guard call.keepsConnection else { return await post(call, to: target, at: address, within: left) }
        if let outcome = await postOnKept(call, to: target, at: address, within: left) { return outcome }
        // The receiver may have closed a kept connection just when the call was sent.
        let rest = deadline - ContinuousClock.now
        guard rest > .zero else { return .failed("timeout") }
        return await post(call, to: target, at: address, within: rest)
    }

    private func address(of target: OutgoingURL) async -> IPAddress? {
        if let literal = IPAddress(target.host) { return literal }
        return await resolver.address(of: target.host, within: timeout)
    }

    private func post(
        _ call: WebhookCall,
        to target: OutgoingURL,
        at address: IPAddress,
        within time: Duration
    ) async -> CallOutcome {
        let client = HTTPClient(
            eventLoopGroupProvider: .shared(group),
            configuration: configuration(target, address, within: time)
        )
        let outcome = await execute(call, target, with: client, within: time)
        // Closes the connection even if the receiver still sends: only the status is needed, so an endless answer costs nothing.
        try? await client.shutdown()
        return outcome
    }

    /// Makes a call on a connection that stays open. Nil: the connection failed.
    private func postOnKept(
        _ call: WebhookCall,
        to target: OutgoingURL,
        at address: IPAddress,
        within time: Duration
    ) async -> CallOutcome? {
        let pin = pinned.client(PinnedClients.Key(name: target.url, address: address)) {
            var configuration = configuration(target, address, within: timeout)
            configuration.connectionPool.idleTimeout = .milliseconds(idleTime.milliseconds)
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = Self.keptConnections
            return HTTPClient(eventLoopGroupProvider: .shared(group), configuration: configuration)
        }
        let outcome = await execute(call, target, with: pin.client, within: time)
        return outcome == .failed(Self.noConnection) ? nil : outcome
    }

    private func configuration(
        _ target: OutgoingURL,
        _ address: IPAddress,
        within time: Duration
    ) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration.pinned(target, to: address, connect: time, read: time)
        configuration.httpVersion = .http1Only
        return configuration
    }

    private func execute(
        _ call: WebhookCall,
        _ target: OutgoingURL,
        with client: HTTPClient,
        within time: Duration
    ) async -> CallOutcome {
        var request = HTTPClientRequest(url: target.url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: call.contentType)
        request.headers.add(name: "User-Agent", value: "push-gateway")
        if !call.keepsConnection { request.headers.add(name: "Connection", value: "close") }
        request.headers.add(name: Signature.header, value: call.signature)
        request.body = .bytes(ByteBuffer(bytes: call.body))
        do {
            let response = try await client.execute(request, timeout: .milliseconds(time.milliseconds))
            let status = Int(response.status.code)
            // A connection is kept if its answer is read to the end.
            if call.keepsConnection { await Self.skip(response.body, within: time) }
            return (200..<300).contains(status) ? .accepted : .refused(status: status)
        } catch let error as HTTPClientError {
            let isTimeout = [.deadlineExceeded, .readTimeout, .connectTimeout].contains(error)
            return .failed(isTimeout ? "timeout" : Self.noConnection)
        } catch {
            return .failed(Self.noConnection)
        }
    }

    private static let noConnection = "no connection"

    /// Reads an answer to its end. A long or slow answer is left, which closes its connection.
    private static func skip(_ body: HTTPClientResponse.Body, within time: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                var left = answerLimitBytes
                do {
                    for try await part in body {
                        left -= part.readableBytes
                        guard left >= 0 else { return }
                    }
                } catch {}
            }
            group.addTask { try? await Task.sleep(for: time) }
            await group.next()
            group.cancelAll()
        }
    }
}
