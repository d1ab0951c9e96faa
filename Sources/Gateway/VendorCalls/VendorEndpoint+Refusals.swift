import Commands
import GatewayHTTP
import Logging
import Model
import Observability

/// The answers to calls that are refused.
extension VendorEndpoint {
    /// The answer to a call without a binding. Where the binding is found by a key, a wrong key is a failed proof.
    @inline(never)
    func unbound(
        _ call: VendorRequest,
        _ adapter: any VendorAdapter,
        _ shown: ShownProof?,
        _ record: inout CallRecord
    ) -> VendorResponse {
        if shown != nil { proofs.note(.credential, adapter.vendor, of: nil) }
        let excess = shown == nil ? limits.unknownBinding(from: call.remoteAddress) : limits.failed(shown)
        if let excess { return limited(excess, call, adapter, &record) }
        return refused(.unknownBinding, call, adapter, &record)
    }

    /// The answer to a call whose beginning names a binding that does not exist.
    @inline(never)
    func unbound(_ call: VendorRequest, _ adapter: any VendorAdapter, _ record: inout CallRecord) -> VendorResponse {
        guard let (key, caller) = try? adapter.locate(call) else {
            return refused(.unknownBinding, call, adapter, &record)
        }
        let shown = limits.proof(call, key, caller, adapter)
        if let excess = shown?.refusal { return limited(excess, call, adapter, &record) }
        return unbound(call, adapter, shown, &record)
    }

    /// The answer to a call whose body was not read.
    @inline(never)
    func unread(
        _ failure: BodyReader.Failure,
        _ call: VendorRequest,
        _ adapter: any VendorAdapter,
        _ record: inout CallRecord
    ) -> VendorResponse {
        switch failure {
        case .noRoom(let excess): limited(excess, call, adapter, &record)
        case .unwanted: unbound(call, adapter, &record)
        case .tooLarge: refused(.tooLarge, call, adapter, &record)
        case .tooSlow: tooSlow(call, adapter, &record)
        case .broken: refused(.timedOut, call, adapter, &record)
        }
    }

    /// The answer to a call above a limit: the vendor's "try again".
    @inline(never)
    func limited(
        _ excess: LimitExcess,
        _ call: VendorRequest,
        _ adapter: any VendorAdapter,
        _ record: inout CallRecord,
        _ settings: BindingSettings = .unbound
    ) -> VendorResponse {
        limits.limiter.refused(excess, from: call.remoteAddress)
        record.isKept = false
        return adapter.encode([.refused(excess.refusal)], for: call, settings: settings)
    }

    @inline(never)
    func refusedSender(
        _ reason: String,
        _ call: VendorRequest,
        _ adapter: any VendorAdapter,
        _ binding: BoundCall,
        _ shown: ShownProof?,
        _ record: inout CallRecord
    ) -> VendorResponse {
        proofs.note(.sender, adapter.vendor, of: binding.tenant, subject: "app \(binding.app)")
        if let excess = limits.failed(shown) { return limited(excess, call, adapter, &record, binding.settings) }
        note(call, adapter, reason)
        let error = AdapterError(.unauthorized)
        record.refused(error, isLogged: true)
        return adapter.refuse(error, for: call, settings: binding.settings)
    }

    @inline(never)
    func refused(
        _ code: AdapterError.Code,
        _ call: VendorRequest,
        _ adapter: any VendorAdapter,
        _ record: inout CallRecord
    ) -> VendorResponse {
        if code == .tooLarge { limits.limiter.refused(FixedLimit.bodyBytes) }
        record.refused(AdapterError(code))
        return adapter.refuse(AdapterError(code), for: call, settings: .unbound)
    }

    /// The answer to a call whose body took too long to arrive.
    @inline(never)
    func tooSlow(_ call: VendorRequest, _ adapter: any VendorAdapter, _ record: inout CallRecord) -> VendorResponse {
        limits.limiter.refused(FixedLimit.bodyTime)
        return refused(.timedOut, call, adapter, &record)
    }

    @inline(never)
    func refused(
        _ refusal: Refusal,
        _ call: VendorRequest,
        _ adapter: any VendorAdapter,
        _ record: inout CallRecord
    ) -> VendorResponse {
        let replies = [Reply.refused(refusal)]
        record.answered(replies)
        return adapter.encode(replies, for: call, settings: .unbound)
    }

    @inline(never)
    func withBodyHash(_ commands: [Command], _ body: [UInt8]) -> [Command] {
        // Calls of devices have none. A copy of a registration would count some twenty references.
        let hasKey = commands.contains { command in
            if case .submission(.submit(let submission)) = command { submission.idempotencyKey != nil } else { false }
        }
        guard hasKey else { return commands }
        return commands.map { command in
            guard case .submission(.submit(var submission)) = command, submission.idempotencyKey != nil else {
                return command
            }
            submission.bodyHash = identifiers.sha256(body)
            return .submission(.submit(submission))
        }
    }

    @inline(never)
    func note(_ call: VendorRequest, _ adapter: any VendorAdapter, _ reason: String) {
        logger.info(
            "vendor call refused",
            metadata: [
                LogKey.vendor: "\(adapter.vendor)", LogKey.route: "\(call.route)", LogKey.reason: "\(reason)",
                LogKey.peer: "\(call.remoteAddress ?? "?")",
            ]
        )
    }
}
