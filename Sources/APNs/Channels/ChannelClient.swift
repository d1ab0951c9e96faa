package import ApplePayload
package import HTTP2

/// Sends broadcasts and manages channels, one call at a time as it comes: for what is asked a few times per second, not for pushes.
///
/// Made by whoever has a credential and a loop, ended by `close`. Any task may call it. It dials when it is first asked; calls to Apple's
/// two hosts have a connection each, over the same HTTP/2 client as pushes.
package final class ChannelClient: Sendable {
    /// Gives the value of `authorization`, `bearer …`; nil where a certificate speaks. The argument is a value that APNs has just called
    /// expired, so that another is needed.
    package typealias Authorization = @Sendable (_ refused: String?) async throws(APNsError) -> String?

    /// Why there is no answer. An answer of APNs, yes or no, is never an error.
    package enum Failure: Error, Sendable {
        /// The call would be refused: it did not leave.
        case fault(PushFault)
        /// There is no provider token.
        case authorization(APNsError)
        /// No answer came; `isUnsent` says whether it may have been processed.
        case unanswered(HTTP2Error)
    }

    private let hosts: ChannelHosts
    private let send: ChannelLink
    private let manage: ChannelLink
    private let authorization: Authorization
    private let timeout: Duration

    /// A client that dials nothing yet.
    ///
    /// - Parameters:
    ///   - hosts: Apple's, or a simulator's.
    ///   - tls: whom to believe, and the certificate if that is what proves us.
    ///   - loop: the thread of its connections.
    ///   - timeout: for one whole call.
    ///   - authorization: asked before each call; caches for itself.
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
    /// - Throws: `Failure`. After `unanswered` that is not unsent, sending it again may update the activities twice, which they survive:
    ///   an older or equal timestamp is ignored.
    package func send(_ broadcast: Broadcast) async throws(Failure) -> BroadcastAnswer {
        var encoder = PayloadEncoder()
        let call = try Self.checked { () throws(PushFault) in try broadcast.call(with: &encoder) }
        var answer = BroadcastAnswer(try await ask(call, send, hosts.send))
        if case .refused(let refusal) = answer, let again = try await remedied(refusal, call, send, hosts.send) {
            answer = BroadcastAnswer(again)
        }
        return answer
    }

    /// Makes, reads, lists or deletes channels.
    ///
    /// - Throws: `Failure`. After `unanswered` that is not unsent, a channel may have been made whose id nobody knows: list them.
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

    /// Ends it: what is under way finishes, further calls fail as unsent.
    package func close() {
        send.close()
        manage.close()
    }

    // MARK: One call

    /// What the outcome table says to do for the connection; the answer of the one more try, if it allows one.
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
