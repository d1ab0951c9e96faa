import Commands
import GatewayHTTP
import Model
import Routing

/// Calls about messages, which belong to the side that sent the message (docs/routing.md#the-side-that-sent-a-message).
extension VendorEndpoint {
    /// 2 s for a receipt that prevents a paid message: the caller waits for the upstream, and the receipt is forwarded if that takes longer.
    private static let urgentLimit = Duration.seconds(2)

    /// The answer to a call about a message. Nil: the gateway serves it; `hold` says whether an upstream receives it too.
    ///
    /// - Throws: `StoreError` when the store cannot say which side sent the message.
    @inline(never)
    func followed(
        _ call: VendorRequest,
        _ adapter: any VendorAdapter,
        _ binding: BoundCall,
        _ following: CallRouter.Following,
        _ shown: ShownProof?,
        _ record: inout CallRecord,
        _ hold: inout CallHold
    ) async throws(StoreError) -> VendorResponse? {
        var owner = MessageOwner.unknown
        let dialect = adapter as? any UpstreamAdapter
        if let reference = dialect?.reference(in: call, settings: binding.settings) {
            let scope = AppScope(app: binding.app, vendor: adapter.vendor)
            owner = try await handler.owner(of: reference, in: scope, of: binding.tenant)
            // A proxied receipt may be faster than the observed send of its message: the observer counts it, after its wait.
            if following.kind == .receipt, owner != .unknown || !following.proxiesMisses {
                hold.isReceiptCounted = true
                let figure = ParityFigure(.unknown, samples: 1, differences: owner == .unknown ? 1 : 0)
                upstreams.observer?.parity?.add(figure, of: binding, adapter.vendor, at: call.receivedAt)
            }
        }
        let isReceipt = following.kind == .receipt
        var proxying = CallRouter.Proxying(
            upstream: following.upstream,
            kind: following.kind,
            servesInOutage: isReceipt
        )
        var limit: Duration?
        switch owner {
        case .gateway: return nil
        case .upstream(let credential, let hasPaidFallback):
            // The messages of an upstream that was removed are the gateway's.
            guard knows(credential, in: binding.tenant) else { return nil }
            proxying.upstream = credential
            if isReceipt { hold.followed = credential }
            // Other receipts can wait, and their callers need not.
            if isReceipt, !hasPaidFallback { return nil }
            if isReceipt { limit = Self.urgentLimit }
        case .unknown:
            if isReceipt { hold.followed = following.upstream }
            guard following.proxiesMisses else { return nil }
        }
        let answer = await proxied(
            call,
            adapter,
            binding,
            proxying,
            shown,
            &record,
            &hold,
            isRemembered: false,
            within: limit
        )
        return answer
    }

    /// The answer of the upstream to a call that the gateway has served without knowing what it is about. Nil: the gateway's own answer is the right one.
    @inline(never)
    func missed(
        _ replies: [Reply],
        _ call: VendorRequest,
        _ adapter: any VendorAdapter,
        _ binding: BoundCall,
        _ shown: ShownProof?,
        _ record: inout CallRecord,
        _ hold: inout CallHold
    ) async -> VendorResponse? {
        guard let miss = hold.miss, replies.contains(where: \.isMiss) else { return nil }
        return await proxied(call, adapter, binding, miss, shown, &record, &hold, isRemembered: false)
    }

    /// Notes whether the receipts of a served call are about known messages: others show that a sender bypasses the gateway.
    @inline(never)
    func noteReceipts(
        _ replies: [Reply],
        _ call: VendorRequest,
        _ adapter: any VendorAdapter,
        _ binding: BoundCall,
        _ hold: CallHold
    ) {
        guard binding.routes != nil, !hold.isReceiptCounted, let observer = upstreams.observer,
            let dialect = adapter as? any UpstreamAdapter,
            dialect.kind(of: call, settings: binding.settings) == .receipt
        else { return }
        observer.noteReceipts(replies, of: call, dialect, binding)
    }

    private func knows(_ credential: CredentialID, in tenant: TenantID) -> Bool {
        upstreams.proxy?.knows(CredentialKey(tenant: tenant, credential: credential)) ?? false
    }
}

extension Reply {
    /// Whether the gateway does not know what the command is about.
    fileprivate var isMiss: Bool {
        switch self {
        case .refused(let refusal):
            switch refusal {
            case .unknownDevice, .unknownMessage, .unknownMedia, .unknownGroup: true
            default: false  // refusals of other kinds
            }
        case .registration(.standing(nil)), .receipt(.orphan), .receipt(.acknowledged(false, _)),
            .campaign(.found(nil)), .campaign(.schedule(nil)):
            true
        case .user(.described(let users)): !users.isEmpty && users.allSatisfy { $0 == nil }
        default: false  // an answer
        }
    }
}
