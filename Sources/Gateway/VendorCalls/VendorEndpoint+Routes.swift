import EngineStore
import GatewayHTTP
import HTTPTypes
import Logging
import Model
import Observability
import Routing

/// Calls that the rules of their app take from the gateway (docs/routing.md#proxying).
extension VendorEndpoint {
    /// The answer to a call that the rules give to an upstream, or refuse. Nil: the gateway serves it.
    ///
    /// A proxied call is authorized by the vendor, so that no proof of the caller is looked at. A call that the gateway serves passes its own checks or is refused;
    /// it never becomes a proxied one.
    ///
    /// - Parameters:
    ///   - call: with its whole body, inflated.
    ///   - adapter: that of the call's dialect.
    ///   - binding: its app's rules decide.
    ///   - record: gets what happened.
    ///   - hold: has the body as it arrived, and gets the body of the answer.
    ///   - isRemembered: the binding is an old one, because the store does not answer. Only proxied calls have an answer then.
    /// - Returns: the answer, without its body if that is a stream.
    @inline(never)
    func routed(
        _ call: VendorRequest,
        _ adapter: any VendorAdapter,
        _ binding: BoundCall,
        _ record: inout CallRecord,
        _ hold: inout CallHold,
        isRemembered: Bool = false
    ) async -> VendorResponse? {
        guard let routes = binding.routes else { return nil }
        let settings = binding.settings
        let decision = await decided(call, adapter, settings, routes.table)
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
            guard let proxy else { return ProxiedCall.retry(call, adapter, settings) }
            let credential = CredentialKey(tenant: binding.tenant, credential: proxying.upstream)
            if isRemembered { proxy.counts.countRemembered(credential) }
            switch await proxy.answer(call, hold.compressed, by: adapter, to: credential, proxying.kind) {
            case .answered(let response, let body):
                record.outcome = .known
                record.reason = "proxied"
                hold.proxied = body
                return response
            case .failed(let failure):
                record.isLogged = true
                note(failure, call, adapter, credential)
                if proxying.servesInOutage, failure.isOutage, !isRemembered { return nil }
                record.outcome = .refused
                record.reason = "upstream"
                return ProxiedCall.answer(to: failure, proxying.kind, call, adapter, settings)
            }
        }
    }

    /// The answer to a call whose binding or proof the store cannot find now: that of the upstream if the rules that are remembered proxy the call, otherwise the
    /// dialect's "try again".
    @inline(never)
    func withoutStore(
        _ error: StoreError,
        _ key: BindingKey,
        _ call: VendorRequest,
        _ adapter: any VendorAdapter,
        _ record: inout CallRecord,
        _ hold: inout CallHold
    ) async -> VendorResponse {
        if let known = directory.lastKnown(key),
            let answer = await routed(call, adapter, known, &record, &hold, isRemembered: true)
        {
            return answer
        }
        record.isLogged = true
        note(call, adapter, "\(error)")
        return refused(.unavailable(retryAfter: .seconds(5)), call, adapter, &record)
    }

    private func decided(
        _ call: VendorRequest,
        _ adapter: any VendorAdapter,
        _ settings: BindingSettings,
        _ table: RouteTable
    ) async -> CallRouter.Decision {
        guard call.body.count > LargeBodies.smallBytes else {
            return CallRouter.decide(call, adapter, settings, table)
        }
        return await LargeBodies.parse { CallRouter.decide(call, adapter, settings, table) }
    }

    private func note(
        _ failure: ProxiedCall.Failure,
        _ call: VendorRequest,
        _ adapter: any VendorAdapter,
        _ credential: CredentialKey
    ) {
        logger.info(
            "proxied call failed",
            metadata: [
                LogKey.tenant: "\(credential.tenant)", LogKey.credential: "\(credential.credential)",
                LogKey.vendor: "\(adapter.vendor)", LogKey.route: "\(call.route)", LogKey.reason: "\(failure.word)",
                LogKey.peer: "\(call.remoteAddress ?? "?")",
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
        case .whole: recorder.offer(call, answer.inflated, record, vendor: vendor)
        case .stream(let stream):
            // One more than is shown, so that a longer body counts as too long.
            stream.tap(limitBytes: CaptureMask.bodyLimitBytes + 1) { bytes in
                let whole = VendorResponse(status: answer.status, headers: answer.headers, body: bytes)
                recorder.offer(call, whole.inflated, record, vendor: vendor)
            }
        }
    }
}

extension CallRouter.Decision {
    fileprivate var isProxy: Bool { if case .proxy = self { true } else { false } }
}

extension VendorResponse {
    /// The answer with its body inflated, if it is compressed and its end has been read.
    fileprivate var inflated: VendorResponse {
        guard BodyInflater.isNeeded(headers),
            let body = try? BodyInflater.inflated(
                body,
                coding: headers[.contentEncoding] ?? "",
                limitBytes: CaptureMask.bodyLimitBytes
            )
        else { return self }
        return VendorResponse(status: status, headers: headers, body: body)
    }
}
