import AsyncHTTPClient
import Model
import NIOCore
import NIOHTTP1
import NIOPosix

/// Makes calls over HTTP/1.1, with one connection per attempt.
///
/// The host's address is looked up and checked at every attempt, and the connection goes to exactly that address, while name, certificate and Host
/// header are those of the URL. A name that resolves differently the second time therefore has no effect. Every attempt has its own client, because a
/// client's lookup table is fixed when it is created, and a pooled connection would not have been checked by this attempt.
package struct HTTPWebhookCaller: WebhookCaller {
    private let timeout: Duration
    private let addressGuard: AddressGuard
    private let resolver: any HostResolver
    private let group: MultiThreadedEventLoopGroup

    /// A caller that gives each attempt `timeout`.
    package init(
        timeout: Duration = .seconds(10),
        addressGuard: AddressGuard,
        resolver: any HostResolver = SystemResolver()
    ) {
        self.timeout = timeout
        self.addressGuard = addressGuard
        self.resolver = resolver
        self.group = .singleton
    }

    package func post(_ call: WebhookCall) async -> CallOutcome {
        let deadline = ContinuousClock.now + timeout
        guard let target = CallbackTarget(call.url) else { return .forbidden }
        guard let address = await address(of: target) else { return .failed("no address") }
        guard addressGuard.permits(address) else { return .forbidden }
        let left = deadline - ContinuousClock.now
        guard left > .zero else { return .failed("timeout") }
        return await post(call, to: target, at: address, within: left)
    }

    private func address(of target: CallbackTarget) async -> IPAddress? {
        if let literal = IPAddress(target.host) { return literal }
        return await resolver.address(of: target.host)
    }

    private func post(
        _ call: WebhookCall,
        to target: CallbackTarget,
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

    private func configuration(
        _ target: CallbackTarget,
        _ address: IPAddress,
        within time: Duration
    ) -> HTTPClient.Configuration {
        let limit = TimeAmount.milliseconds(time.milliseconds)
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: HTTPClient.Configuration.Timeout(connect: limit, read: limit),
            decompression: .disabled
        )
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.dnsOverride = [target.host: address.description]
        return configuration
    }

    private func execute(
        _ call: WebhookCall,
        _ target: CallbackTarget,
        with client: HTTPClient,
        within time: Duration
    ) async -> CallOutcome {
        var request = HTTPClientRequest(url: target.url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: call.contentType)
        request.headers.add(name: "User-Agent", value: "push-gateway")
        request.headers.add(name: "Connection", value: "close")
        request.headers.add(name: Signature.header, value: call.signature)
        request.body = .bytes(ByteBuffer(bytes: call.body))
        do {
            let response = try await client.execute(request, timeout: .milliseconds(time.milliseconds))
            let status = Int(response.status.code)
            return (200..<300).contains(status) ? .accepted : .refused(status: status)
        } catch let error as HTTPClientError {
            let isTimeout = [.deadlineExceeded, .readTimeout, .connectTimeout].contains(error)
            return .failed(isTimeout ? "timeout" : "no connection")
        } catch {
            return .failed("no connection")
        }
    }
}
