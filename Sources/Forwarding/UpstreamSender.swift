import HTTPTypes
package import Model
package import Outgoing

/// Makes the calls by which upstreams send messages, through the client of upstreams: they count among the calls in flight, and have its times.
package struct UpstreamSender: UpstreamTransport {
    /// 1 MiB of an answer are read. A longer one does not say what became of the message.
    private static let answerBytes = 1 << 20
    private static let via = HTTPField.Name("Via")

    private let client: OutgoingClient
    private let adapters: [Vendor: any VendorAdapter]
    private let name: String
    private let clock: any WallClock
    private let find: @Sendable (CredentialKey) -> UpstreamForwardCaller.Target?

    /// - Parameters:
    ///   - client: the client of upstreams.
    ///   - adapters: the dialects.
    ///   - name: the name of this gateway in `Via`.
    ///   - clock: the time for signatures.
    ///   - find: the upstream of a credential; nil: it does not exist, or cannot be opened on this node.
    package init(
        client: OutgoingClient,
        adapters: [Vendor: any VendorAdapter],
        name: String,
        clock: any WallClock,
        find: @escaping @Sendable (CredentialKey) -> UpstreamForwardCaller.Target?
    ) {
        self.client = client
        self.adapters = adapters
        self.name = name
        self.clock = clock
        self.find = find
    }

    package func settings(of key: CredentialKey) -> UpstreamSettings? { find(key)?.settings }

    package func call(_ call: UpstreamCall, through key: CredentialKey) async -> UpstreamResult {
        guard let target = find(key), let adapter = adapters[target.settings.vendor] as? any UpstreamAdapter,
            let request = request(of: call, adapter, target)
        else { return UpstreamResult(.unsent(TransportError(.noCredential, "the upstream is not open")), for: call) }
        do throws(OutgoingError) {
            let response = try await client.call(
                request,
                to: target.server,
                collecting: OutgoingLimits.collectedBytes
            )
            let body = try await response.body.bytes(upTo: Self.answerBytes)
            let answer = VendorResponse(status: response.status, headers: response.fields, body: body)
            return Self.whole(adapter.outcome(of: call, response: answer), for: call)
        } catch {
            return UpstreamResult(Self.outcome(of: error), for: call)
        }
    }

    /// The result with one outcome for each target: what an adapter leaves out is not known.
    private static func whole(_ result: UpstreamResult, for call: UpstreamCall) -> UpstreamResult {
        guard result.outcomes.count != call.targets.count else { return result }
        return UpstreamResult(.unclear, for: call, reference: result.reference)
    }

    /// The meaning of a call without an answer. Texts are fixed and contain nothing of the peer.
    private static func outcome(of error: OutgoingError) -> Outcome {
        switch error {
        case .busy: .unsent(TransportError(.overloaded, "\(error)"))
        // The operator's settings or the credential are wrong: no call can leave.
        case .forbidden, .invalid: .unsent(TransportError(.noCredential, "\(error)"))
        case .unresolved, .unsent: .unsent(TransportError(.noConnection, "\(error)"))
        case .indeterminate(.timeout): .indeterminate(TransportError(.timedOut, "\(error)"))
        case .indeterminate: .indeterminate(TransportError(.reset, "\(error)"))
        }
    }

    private func request(
        of call: UpstreamCall,
        _ adapter: any UpstreamAdapter,
        _ target: UpstreamForwardCaller.Target
    ) -> OutgoingRequest? {
        let host = target.server.url.host
        guard var prepared = adapter.prepare(call.request, for: target.settings, host: host, at: clock.now()) else {
            return nil
        }
        if let via = Self.via { prepared.headers.append(HTTPField(name: via, value: "1.1 \(name)")) }
        return OutgoingRequest(
            method: prepared.method,
            target: prepared.path + (prepared.query.map { "?\($0)" } ?? ""),
            fields: prepared.headers,
            body: prepared.body
        )
    }
}
