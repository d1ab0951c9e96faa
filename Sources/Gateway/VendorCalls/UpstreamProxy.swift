import Crypto
import GatewayHTTP
import HTTPTypes
import Model
import Observability
import Outgoing
import Secrets

/// Makes the calls that rules give to an upstream, and returns its answers unchanged.
final class UpstreamProxy: Sendable {
    enum Outcome: Sendable {
        case answered(VendorResponse, ProxiedBody)
        /// The dialect does not admit the caller. Nothing has left.
        case refused(AdapterError)
        case failed(ProxiedCall.Failure)
    }

    private let upstreams: OpenUpstreams
    let client: OutgoingClient
    /// The name of this gateway in `Via`.
    let name: String
    let counts: UpstreamCallCounts
    private let shares = UpstreamShares()

    init(upstreams: OpenUpstreams, client: OutgoingClient, name: String) {
        self.upstreams = upstreams
        counts = upstreams.counts
        self.client = client
        self.name = name
    }

    /// The name of a gateway in `Via`: the same on all nodes, because it is derived from the root secret, which they share and which no rotation changes.
    static func name(_ keyRing: KeyRing) -> String {
        // 8 bytes: enough to distinguish the gateways of one path, and they reveal nothing about the secret.
        "push-gateway-" + HexCoding.encode(Array(SHA256.hash(data: keyRing.derived("name in Via")).prefix(8)))
    }

    /// Whether the credential exists and can be opened.
    func knows(_ credential: CredentialKey) -> Bool { upstreams.upstream(credential) != nil }

    /// Makes a call and returns when the head of its answer has arrived; short answers are complete then.
    ///
    /// - Parameters:
    ///   - call: inflated, with the header `Host` that arrived.
    ///   - compressed: the body as it arrived, if it was compressed.
    ///   - adapter: that of the call's dialect. It admits the caller before anything leaves.
    ///   - settings: those of the binding.
    ///   - credential: the upstream.
    ///   - kind: that of the call.
    ///   - isLimited: whether limits apply to the caller's address.
    ///   - limit: a shorter time for the call than that of all calls; nil: that time.
    /// - Returns: the upstream's answer, or why there is none.
    func answer(
        _ call: VendorRequest,
        _ compressed: CompressedBody?,
        by adapter: any VendorAdapter,
        _ settings: BindingSettings,
        to credential: CredentialKey,
        _ kind: CallKind,
        isLimited: Bool,
        within limit: Duration? = nil
    ) async -> Outcome {
        if ProxyHeaders.isLoop(call.headers, by: name) { return fails(.loop, credential, kind) }
        guard let dialect = adapter as? any UpstreamAdapter else { return fails(.unfit, credential, kind) }
        do throws(AdapterError) { try dialect.admit(call, settings: settings) } catch { return .refused(error) }
        guard let upstream = upstreams.upstream(credential) else { return fails(.notOpen, credential, kind) }
        let host = upstream.server.url.host
        let prepared = dialect.prepare(call, for: upstream.settings, host: host, at: call.receivedAt)
        guard let prepared else { return fails(.unfit, credential, kind) }
        guard let place = shares.place(of: call.remoteAddress, at: credential, isLimited: isLimited) else {
            return fails(.crowded, credential, kind)
        }
        let request = ProxiedCall.request(prepared, of: call, compressed, by: name)
        let end = ContinuousClock.now + (limit ?? OutgoingLimits().call)
        var outcome = await answer(to: request, upstream.server, kind, place, within: limit)
        if let keyed = await keyed(call, after: outcome, dialect, settings, upstream, kind, until: end) {
            outcome = await answer(to: keyed, upstream.server, kind, place, within: Self.rest(until: end))
        }
        // A stream has its place until it ends.
        if case .answered(_, .stream) = outcome { return outcome }
        place.release()
        return outcome
    }

    /// The call with a key of the upstream, for a caller who shows one of the gateway, which the upstream has refused: nothing has happened yet. Nil: the outcome
    /// stands.
    @inline(never)
    private func keyed(
        _ call: VendorRequest,
        after outcome: Outcome,
        _ dialect: any UpstreamAdapter,
        _ settings: BindingSettings,
        _ upstream: OpenUpstreams.Upstream,
        _ kind: CallKind,
        until end: ContinuousClock.Instant
    ) async -> OutgoingRequest? {
        guard case .answered(let refusal, .whole) = outcome, let vendor = dialect as? any ForwardingVendor,
            vendor.showsOwnKey(call, settings: settings),
            let ask = vendor.keyCall(for: call, refusedBy: vendor.verdict(of: refusal))
        else { return nil }
        let (server, host) = (upstream.server, upstream.server.url.host)
        func request(_ call: VendorRequest) -> OutgoingRequest? {
            dialect.prepare(call, for: upstream.settings, host: host, at: call.receivedAt)
                .map { ProxiedCall.request($0, of: call, nil, by: name) }
        }
        guard let asking = request(ask) else { return nil }
        do throws(OutgoingError) {
            let rest = Self.rest(until: end)
            let response = try await client.call(asking, to: server, within: rest, collecting: ProxiedCall.wholeBytes)
            let bytes = try await response.body.bytes(upTo: ProxiedCall.wholeBytes)
            counts.count(server.credential, kind, .answered(status: response.status))
            let answer = VendorResponse(status: response.status, headers: response.fields, body: bytes)
            // A call that cannot end in its time is not begun: the refusal is the answer.
            guard ContinuousClock.now.duration(to: end) > Self.shortestRepetition else { return nil }
            return vendor.keyed(vendor.stored(call, settings: settings), by: answer).flatMap(request)
        } catch {
            _ = fails(.failed(error), server.credential, kind)
            return nil
        }
    }

    /// 100 ms: most upstreams answer within this time.
    private static let shortestRepetition = Duration.milliseconds(100)

    /// The time that is left of a call; at least a millisecond.
    private static func rest(until end: ContinuousClock.Instant) -> Duration {
        max(.milliseconds(1), ContinuousClock.now.duration(to: end))
    }

    private func answer(
        to request: OutgoingRequest,
        _ server: OutgoingServer,
        _ kind: CallKind,
        _ place: HeldPermit,
        within limit: Duration?
    ) async -> Outcome {
        let credential = server.credential
        let started = ContinuousClock.now
        do throws(OutgoingError) {
            let response = try await client.call(request, to: server, within: limit, collecting: ProxiedCall.wholeBytes)
            counts.record(response.arrivedAt - started, of: credential)
            guard ProxiedCall.isStatus(response.status) else { return fails(.unreadable, credential, kind) }
            let head = VendorResponse(status: response.status, headers: ProxyHeaders.answer(response.fields))
            guard let length = ProxiedCall.wholeLength(response.status, head.headers, of: request.method) else {
                let meter = UpstreamMeter(counts, credential, kind, status: response.status, place)
                return .answered(head, .stream(UpstreamStream(response.body, meter)))
            }
            let bytes = try await response.body.bytes(upTo: length)
            counts.count(credential, kind, .answered(status: response.status))
            return .answered(VendorResponse(status: head.status, headers: head.headers, body: bytes), .whole)
        } catch {
            return fails(.failed(error), credential, kind)
        }
    }

    private func fails(_ failure: ProxiedCall.Failure, _ credential: CredentialKey, _ kind: CallKind) -> Outcome {
        switch failure {
        case .loop: counts.count(credential, kind, .loop)
        case .failed(.busy): counts.count(credential, kind, .busy)
        case .failed(let error): counts.count(credential, kind, error.isUnsent ? .unsent : .unanswered)
        case .unreadable: counts.count(credential, kind, .broken)
        case .unfit, .notOpen, .crowded: counts.count(credential, kind, .unsent)
        }
        return .failed(failure)
    }
}
