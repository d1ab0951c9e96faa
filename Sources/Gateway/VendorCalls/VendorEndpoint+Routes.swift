import EngineStore
import GatewayHTTP
import HTTPTypes
import Logging
import Model
import Observability
import Routing

/// Calls that the rules of their app take from the gateway (docs/routing.md#proxying).
extension VendorEndpoint {
    /// The binding of a call.
    ///
    /// - Parameters:
    ///   - key: names the binding.
    ///   - call: with its whole body; nil: it has not arrived yet.
    ///   - adapter: that of the call's dialect.
    /// - Returns: nil if there is none.
    /// - Throws: `StoreError` when the store cannot answer now, or did not a moment ago and the rules that are remembered proxy the call.
    func bound(
        _ key: BindingKey,
        of call: VendorRequest?,
        _ adapter: any VendorAdapter
    ) async throws(StoreError) -> BoundCall? {
        if let remembered = directory.remembered(key) { return remembered }
        if let known = directory.lastKnown(key), !outage.asks(at: .now), await isProxied(call, adapter, known) {
            throw StoreError(.unavailable, "the store did not answer a moment ago")
        }
        do throws(StoreError) {
            let binding = try await directory.binding(key)
            outage.answered()
            return binding
        } catch {
            outage.ended(with: error, at: .now)
            throw error
        }
    }

    /// Whether the rules that are remembered proxy a call. True for one that has not arrived: it is read then, and asks again.
    private func isProxied(_ call: VendorRequest?, _ adapter: any VendorAdapter, _ known: BoundCall) async -> Bool {
        guard let routes = known.routes else { return false }
        guard var arrived = call else { return true }
        arrived.headers = ProxyHeaders.endToEnd(arrived.headers)
        return await decided(arrived, adapter, known.settings, routes).isProxy
    }

    /// The answer to a call that the rules give to an upstream, or refuse. Nil: the gateway serves it.
    ///
    /// The vendor authorizes a proxied call, so that no proof for the gateway is looked at. Where the upstream cannot check the caller, because `prepare` replaces the
    /// caller's credential, the dialect checks it (`UpstreamAdapter.admit`). A call that the gateway serves passes its own checks or is refused; it never becomes a
    /// proxied one.
    ///
    /// - Parameters:
    ///   - call: with its whole body, inflated. It loses the fields of its connection, which the upstream does not get, so that rules and proofs see what the upstream sees.
    ///   - adapter: that of the call's dialect.
    ///   - binding: its app's rules decide.
    ///   - shown: the credential that the call shows.
    ///   - record: gets what happened.
    ///   - hold: has the body as it arrived, and gets the body of the answer.
    ///   - isRemembered: the binding is an old one, because the store does not answer. Only proxied calls have an answer then.
    /// - Returns: the answer, without its body if that is a stream.
    /// - Throws: `StoreError` when the store cannot say which side sent a message, or by which keys rollouts know the devices of a send.
    @inline(never)
    func routed(
        _ call: inout VendorRequest,
        _ adapter: any VendorAdapter,
        _ binding: BoundCall,
        _ shown: ShownProof?,
        _ record: inout CallRecord,
        _ hold: inout CallHold,
        isRemembered: Bool = false
    ) async throws(StoreError) -> VendorResponse? {
        guard let routes = binding.routes else { return nil }
        call.headers = ProxyHeaders.endToEnd(call.headers)
        let settings = binding.settings
        var firstKeys: [String: String] = [:]
        // While the store does not answer, the devices' own keys decide: one side still gets the whole call.
        if binding.hasFirstKeys, !isRemembered {
            firstKeys = try await self.firstKeys(of: call, adapter, binding, routes)
        }
        let decision = await decided(call, adapter, settings, routes, firstKeys)
        if isRemembered, !decision.isProxy { return nil }
        record.owner = CallRecord.Owner(tenant: binding.tenant, app: binding.app)
        switch decision {
        case .serve: return nil
        case .refuse:
            record.outcome = .refused
            record.reason = "refusedByRule"
            return adapter.refuse(AdapterError(.notFound), for: call, settings: settings)
        case .unready:
            record.outcome = .refused
            record.reason = "ruleOfLaterVersion"
            return ProxiedCall.retry(call, adapter, settings)
        case .proxy(let proxying):
            return await proxied(call, adapter, binding, proxying, shown, &record, &hold, isRemembered: isRemembered)
        case .serveOrProxy(let proxying):
            hold.miss = proxying
            return nil
        case .follow(let following):
            return try await followed(call, adapter, binding, following, shown, &record, &hold)
        }
    }

    /// The answer of the upstream, or the dialect's answer to a call that has none. Nil: the gateway serves the call in its place. `limit`: a shorter time for the
    /// call than that of all calls.
    @inline(never)
    func proxied(
        _ call: VendorRequest,
        _ adapter: any VendorAdapter,
        _ binding: BoundCall,
        _ proxying: CallRouter.Proxying,
        _ shown: ShownProof?,
        _ record: inout CallRecord,
        _ hold: inout CallHold,
        isRemembered: Bool,
        within limit: Duration? = nil
    ) async -> VendorResponse? {
        let settings = binding.settings
        guard let proxy = upstreams.proxy else { return ProxiedCall.retry(call, adapter, settings) }
        let credential = CredentialKey(tenant: binding.tenant, credential: proxying.upstream)
        if isRemembered { proxy.counts.countRemembered(credential) }
        hold.wasHandedOver = true
        let outcome = await proxy.answer(
            call,
            hold.compressed,
            by: adapter,
            settings,
            to: credential,
            proxying.kind,
            isLimited: limits.limiter.applies(to: call.remoteAddress),
            within: limit
        )
        switch outcome {
        case .answered(let response, let body):
            record.outcome = .known
            record.reason = "proxied"
            hold.proxied = body
            await observe(call, adapter, binding, proxying, response, hold, isRemembered: isRemembered)
            return response
        case .refused(let error): return unadmitted(error, call, adapter, settings, shown, &record)
        case .failed(let failure):
            record.isLogged = true
            if failure == .crowded { limits.limiter.refused(FixedLimit.upstreamCalls) }
            note(failure, call, adapter, credential)
            // A receipt that its upstream waits for is forwarded, whatever kept it from leaving now.
            let standsIn = failure.isOutage || (limit != nil && failure != .loop)
            if proxying.servesInOutage, standsIn, !isRemembered { return nil }
            record.outcome = .refused
            record.reason = "upstream"
            return ProxiedCall.answer(to: failure, proxying.kind, call, adapter, settings)
        }
    }

    /// The answer to a call whose caller the dialect does not admit to the upstream. It counts as a failed proof, as in a call that the gateway serves.
    private func unadmitted(
        _ error: AdapterError,
        _ call: VendorRequest,
        _ adapter: any VendorAdapter,
        _ settings: BindingSettings,
        _ shown: ShownProof?,
        _ record: inout CallRecord
    ) -> VendorResponse {
        if error.code == .unauthorized {
            refusedCredential(adapter, record, isShown: shown != nil)
            if let excess = limits.failed(shown) { return limited(excess, call, adapter, &record, settings) }
        }
        note(call, adapter, "\(error)")
        record.refused(error, isLogged: true)
        return adapter.refuse(error, for: call, settings: settings)
    }

    /// The answer to a call whose binding or proof the store cannot find now: that of the upstream if the rules that are remembered proxy the call, otherwise the
    /// dialect's "try again". A call that an upstream may have received already is not handed over again.
    @inline(never)
    func withoutStore(
        _ error: StoreError,
        _ key: BindingKey,
        _ call: VendorRequest,
        _ adapter: any VendorAdapter,
        _ shown: ShownProof?,
        _ record: inout CallRecord,
        _ hold: inout CallHold
    ) async -> VendorResponse {
        var call = call
        if !hold.wasHandedOver, let known = directory.lastKnown(key),
            let answer = try? await routed(&call, adapter, known, shown, &record, &hold, isRemembered: true)
        {
            return answer
        }
        record.isLogged = true
        note(call, adapter, "\(error)")
        return refused(.unavailable(retryAfter: .seconds(5)), call, adapter, &record)
    }

    /// The side that answers a call by the rules.
    func decided(
        _ call: VendorRequest,
        _ adapter: any VendorAdapter,
        _ settings: BindingSettings,
        _ routes: BoundRoutes,
        _ firstKeys: [String: String] = [:]
    ) async -> CallRouter.Decision {
        guard let table = routes.table else { return .unready }
        return await LargeBodies.parse(call.body) { CallRouter.decide(call, adapter, settings, table, firstKeys) }
    }

    /// The keys by which rollouts know the devices that a send names, where these are not their own.
    @inline(never)
    private func firstKeys(
        of call: VendorRequest,
        _ adapter: any VendorAdapter,
        _ binding: BoundCall,
        _ routes: BoundRoutes
    ) async throws(StoreError) -> [String: String] {
        guard let table = routes.table, table.hasRolloutByDevice else { return [:] }
        let settings = binding.settings
        let devices = await LargeBodies.parse(call.body) { CallRouter.devices(in: call, adapter, settings, table) }
        guard !devices.isEmpty else { return [:] }
        return try await directory.firstKeys(of: devices, adapter.vendor, in: binding)
    }

    private func note(
        _ failure: ProxiedCall.Failure,
        _ call: VendorRequest,
        _ adapter: any VendorAdapter,
        _ credential: CredentialKey
    ) {
        let count = failures.count(credential, at: .now)
        logger.log(
            level: count == nil ? .debug : .info,
            "proxied call failed",
            metadata: [
                LogKey.tenant: "\(credential.tenant)", LogKey.credential: "\(credential.credential)",
                LogKey.vendor: "\(adapter.vendor)", LogKey.route: "\(call.route)", LogKey.reason: "\(failure.word)",
                LogKey.peer: "\(call.remoteAddress ?? "?")", LogKey.count: "\(count ?? 1)",
            ]
        )
    }

    /// Offers a call to the captures, an upstream's answer as readable text. A stream is offered when it has ended.
    @inline(never)
    func capture(
        _ call: VendorRequest,
        _ answer: VendorResponse,
        _ record: CallRecord,
        _ hold: CallHold,
        _ vendor: Vendor
    ) {
        guard let recorder else { return }
        guard let proxied = hold.proxied else { return recorder.offer(call, answer, record, vendor: vendor) }
        guard recorder.isWanted(record, vendor: vendor) else { return }
        switch proxied {
        case .whole:
            let shown = answer.inflated(limitBytes: CaptureMask.bodyLimitBytes) ?? answer
            recorder.offer(call, shown, record, vendor: vendor)
        case .stream(let stream):
            let call = call.unread
            // One more than is shown, so that a longer body counts as too long.
            stream.tap(limitBytes: CaptureMask.bodyLimitBytes + 1) { bytes, _ in
                let whole = VendorResponse(status: answer.status, headers: answer.headers, body: bytes)
                let shown = whole.inflated(limitBytes: CaptureMask.bodyLimitBytes) ?? whole
                recorder.offer(call, shown, record, vendor: vendor)
            }
        }
    }
}

extension CallRouter.Decision {
    fileprivate var isProxy: Bool { if case .proxy = self { true } else { false } }
}
