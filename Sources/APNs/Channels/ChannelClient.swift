package import ApplePayload
package import HTTP2

/// Sends broadcasts and manages channels, each call separately. It is designed for a few calls per second, not for pushes.
///
/// The owner of a credential and a loop creates it; `close` ends it. Any task may call it. It dials at the first call. Apple's two hosts have one connection
/// each, over the same HTTP/2 client as pushes.
package final class ChannelClient: Sendable {
    /// Returns the value of `authorization`, `bearer …`; nil if the connection uses a certificate. The argument is a value that APNs has just reported as
    /// expired, so that another one is needed.
    package typealias Authorization = @Sendable (_ refused: String?) async throws(APNsError) -> String?

    /// Why no answer came. An answer of APNs is never an error, even a refusal.
    package enum Failure: Error, Sendable {
        /// APNs would refuse the call, so it was not sent.
        case fault(PushFault)
        /// No provider token is available.
        case authorization(APNsError)
        /// No answer came; `isUnsent` is true if the call was certainly not processed.
        case unanswered(HTTP2Error)
    }

    private let hosts: ChannelHosts
    private let send: ChannelLink
    private let manage: ChannelLink
    private let authorization: Authorization
    private let timeout: Duration

    /// Creates a client without connections.
    ///
    /// - Parameters:
    ///   - hosts: Apple's hosts or a simulator's.
    ///   - tls: the trust roots, and the certificate if the client authenticates by one.
    ///   - loop: the thread of its connections.
    ///   - timeout: the limit for one whole call.
    ///   - authorization: called before each call; it must cache its values.
    package init(
        hosts: ChannelHosts,
        tls: TLSContext,
        loop: EventLoop,
        timeout: Duration = .seconds(20),
        authorization: @escaping Authorization
    ) {
        self.hosts = hosts
        self.timeout = timeout
        self.authorization = authorization
        send = ChannelLink(Self.configuration(hosts.send, tls), loop: loop)
        manage = ChannelLink(Self.configuration(hosts.manage, tls), loop: loop)
    }

    private static func configuration(_ endpoint: APNsEndpoint, _ tls: TLSContext) -> ConnectionConfiguration {
        var configuration = ConnectionConfiguration(host: endpoint.host, port: endpoint.port, tls: tls)
        configuration.collectedFields = APNsHeader.collectedForChannels
        configuration.limits.maxResponseBodyBytes = APNsLimits.maxChannelListBytes
        return configuration
    }

    /// Sends one broadcast.
    ///
    /// - Throws: `Failure`. After `unanswered` with `isUnsent` false, sending it again may update the activities twice. This is harmless: devices ignore an
    ///   older or equal timestamp.
    package func send(_ broadcast: Broadcast) async throws(Failure) -> BroadcastAnswer {
        var encoder = PayloadEncoder()
        let call = try Self.checked { () throws(PushFault) in try broadcast.call(with: &encoder) }
        var answer = BroadcastAnswer(try await ask(call, send, hosts.send))
        if case .refused(let refusal) = answer, let again = try await remedied(refusal, call, send, hosts.send) {
            answer = BroadcastAnswer(again)
        }
        return answer
    }

    /// Creates, reads, lists or deletes channels.
    ///
    /// - Throws: `Failure`. After `unanswered` with `isUnsent` false, a channel may exist whose id is unknown: list the channels.
    package func send(_ request: ChannelRequest) async throws(Failure) -> ChannelAnswer {
        let call = try Self.checked { () throws(PushFault) in try request.call() }
        var answer = ChannelAnswer(to: request, try await ask(call, manage, hosts.manage))
        if case .refused(let refusal) = answer.result,
            let again = try await remedied(refusal, call, manage, hosts.manage)
        {
            answer = ChannelAnswer(to: request, again)
        }
        return answer
    }

    /// Closes the client: calls in progress finish, further calls fail as unsent.
    package func close() {
        send.close()
        manage.close()
    }

    // MARK: One call

    /// Performs the remedy of the outcome table. If it allows one more attempt, makes it and returns its answer; otherwise returns nil.
    private func remedied(
        _ refusal: ChannelRefusal,
        _ call: ChannelCall,
        _ link: ChannelLink,
        _ host: APNsEndpoint
    ) async throws(Failure) -> Response? {
        switch refusal.remedy {
        case .none, .suspect: return nil
        case .retire:
            link.drop()
            return nil
        case .reconnectAndResend:
            link.drop()
            return try await ask(call, link, host)
        case .renewTokenAndResend:
            link.drop()
            let stale = try await authorize(refused: nil)
            return try await ask(call, link, host, refused: stale)
        }
    }

    private func ask(
        _ call: ChannelCall,
        _ link: ChannelLink,
        _ host: APNsEndpoint,
        refused: String? = nil
    ) async throws(Failure) -> Response {
        let value = try await authorize(refused: refused)
        do throws(HTTP2Error) {
            let request = try call.request(authority: host.authority, authorization: value, timeout: timeout)
            return try await link.answer(to: request)
        } catch {
            throw .unanswered(error)
        }
    }

    private func authorize(refused: String?) async throws(Failure) -> String? {
        do throws(APNsError) { return try await authorization(refused) } catch { throw .authorization(error) }
    }

    private static func checked<Value>(_ body: () throws(PushFault) -> Value) throws(Failure) -> Value {
        do throws(PushFault) { return try body() } catch { throw .fault(error) }
    }
}
