import HTTPTypes
package import Model
package import Outgoing

/// Makes forwarded calls through the client of upstreams, with the authorization of the credential.
package struct UpstreamForwardCaller: ForwardCaller {
    /// An upstream that this node can call.
    package struct Target: Sendable {
        package var server: OutgoingServer
        /// Contains secrets.
        package var settings: UpstreamSettings

        package init(server: OutgoingServer, settings: UpstreamSettings) {
            self.server = server
            self.settings = settings
        }
    }

    /// 1 MiB of an answer are read: the code of a dialect that answers with 200 is in its body.
    private static let answerBytes = 1 << 20
    private static let via = HTTPField.Name("Via")

    private let client: OutgoingClient
    private let adapters: [Vendor: any VendorAdapter]
    private let name: String
    private let clock: any WallClock
    private let find: @Sendable (CredentialKey) -> Target?

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
        find: @escaping @Sendable (CredentialKey) -> Target?
    ) {
        self.client = client
        self.adapters = adapters
        self.name = name
        self.clock = clock
        self.find = find
    }

    package func call(_ lease: ForwardLease) async -> ForwardVerdict {
        guard let target = find(lease.queue.credential) else { return .failed("upstream not open", after: nil) }
        let adapter = adapters[lease.call.vendor]
        let call = lease.call.request(at: clock.now())
        guard let request = request(call, adapter, target) else { return .refused("not a call of this upstream") }
        do throws(OutgoingError) {
            var answer = try await self.answer(to: request, target)
            guard let forwarding = adapter as? any ForwardingVendor else {
                return ForwardVerdict(status: answer.status, retryAfter: Self.retryAfter(answer))
            }
            var verdict = forwarding.verdict(of: answer)
            // Three calls end within a lease. A refused call has changed nothing.
            let asking = forwarding.keyCall(for: call, refusedBy: verdict)
            if let ask = asking.flatMap({ self.request($0, adapter, target) }) {
                let key = try await self.answer(to: ask, target)
                if let keyed = forwarding.keyed(call, by: key).flatMap({ self.request($0, adapter, target) }) {
                    answer = try await self.answer(to: keyed, target)
                    verdict = forwarding.verdict(of: answer)
                }
            }
            // Keys are those of single devices: such a refusal says nothing about the calls of others.
            if asking != nil, case .credential(let reason) = verdict {
                return .failed(reason, after: Self.retryAfter(answer))
            }
            if case .failed(let reason, after: nil) = verdict { return .failed(reason, after: Self.retryAfter(answer)) }
            return verdict
        } catch {
            switch error {
            case .busy: return .busy
            // The credential's certificates are an operator's fault, and the target is the caller's.
            case .invalid where target.server.trustRoots.map({ OutgoingServer.areCertificates($0) }) ?? true:
                return .refused("\(error)")
            default: return .failed("\(error)", after: nil)
            }
        }
    }

    private func answer(
        to request: OutgoingRequest,
        _ target: Target
    ) async throws(OutgoingError) -> VendorResponse {
        let response = try await client.call(request, to: target.server, collecting: OutgoingLimits.collectedBytes)
        var answer = VendorResponse(status: response.status, headers: response.fields)
        // A longer answer ends the call; its status is the answer.
        do throws(OutgoingError) { answer.body = try await response.body.bytes(upTo: Self.answerBytes) } catch {
            guard error == .indeterminate(.tooLong) else { throw error }
        }
        return answer
    }

    private func request(
        _ call: VendorRequest,
        _ adapter: (any VendorAdapter)?,
        _ target: Target
    ) -> OutgoingRequest? {
        let now = clock.now()
        var request = call
        if let forwarding = adapter as? any ForwardingVendor {
            request = forwarding.authorized(request, for: target.settings)
        }
        guard let upstream = adapter as? any UpstreamAdapter,
            var prepared = upstream.prepare(request, for: target.settings, host: target.server.url.host, at: now)
        else { return nil }
        if let via = Self.via { prepared.headers.append(HTTPField(name: via, value: "1.1 \(name)")) }
        return OutgoingRequest(
            method: prepared.method,
            target: prepared.path + (prepared.query.map { "?\($0)" } ?? ""),
            fields: prepared.headers,
            body: prepared.body
        )
    }

    /// `Retry-After` in seconds; nil: absent, or a date.
    private static func retryAfter(_ answer: VendorResponse) -> Duration? {
        guard let text = answer.headers[.retryAfter], let seconds = Int64(text), seconds >= 0 else { return nil }
        // The policy's own limit is lower.
        return .seconds(min(seconds, 86_400))
    }
}
