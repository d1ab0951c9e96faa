import GatewayHTTP
import HTTPTypes
import Model
import Routing

/// Proxied calls that the gateway observes (docs/routing.md#observation).
extension VendorEndpoint {
    /// Offers a proxied call and its answer to the observer, as soon as the whole answer has arrived.
    ///
    /// - Parameters:
    ///   - call: as it arrived, inflated.
    ///   - adapter: that of the call's dialect.
    ///   - binding: the app of the call.
    ///   - proxying: the upstream and the kind of the call.
    ///   - answer: without a body if that is a stream.
    ///   - hold: has the body of the answer.
    ///   - isRemembered: the store does not answer, so that nothing could be stored.
    @inline(never)
    func observe(
        _ call: VendorRequest,
        _ adapter: any VendorAdapter,
        _ binding: BoundCall,
        _ proxying: CallRouter.Proxying,
        _ answer: VendorResponse,
        _ hold: CallHold,
        isRemembered: Bool
    ) async {
        guard let observer = upstreams.observer, let dialect = adapter as? any UpstreamAdapter,
            let body = hold.proxied
        else { return }
        switch proxying.kind {
        case .other: return
        // Other reads are compared, and most of them are not.
        case .read:
            guard dialect.observesReads || observer.parity?.takesRead(at: call.receivedAt) == true else { return }
        case .device, .user, .receipt, .message, .send: break
        }
        var observed = ObservedCall(
            call: call,
            adapter: dialect,
            binding: binding,
            upstream: proxying.upstream,
            kind: proxying.kind,
            answer: answer,
            isReceiptCounted: hold.isReceiptCounted
        )
        if isRemembered { return observer.lost(observed, .store) }
        if proxying.kind == .send, let certificates, let channel = hold.channel, !binding.senders.certificates.isEmpty {
            observed.call.certificate = await certificates.certificate(of: channel)
        }
        switch body {
        case .whole: Self.offer(observed, to: observer)
        case .stream(let stream):
            let unread = observed.unread
            // One more than is read, so that a longer body counts as too long.
            stream.tap(limitBytes: CallObserver.answerLimitBytes + 1) { bytes, isComplete in
                guard isComplete else { return }
                var whole = unread
                whole.answer.body = bytes
                Self.offer(whole, to: observer)
            }
        }
    }

    private static func offer(_ observed: ObservedCall, to observer: CallObserver) {
        guard let answer = observed.answer.inflated(limitBytes: CallObserver.answerLimitBytes) else {
            return observer.lost(observed, .compressed)
        }
        var readable = observed
        readable.answer = answer
        observer.offer(readable)
    }
}

extension VendorResponse {
    /// The answer with its body inflated, if it is compressed. Nil: its end is missing, or it is too long.
    func inflated(limitBytes: Int) -> VendorResponse? {
        guard BodyInflater.isNeeded(headers) else { return self }
        guard
            let body = try? BodyInflater.inflated(
                body,
                coding: headers[.contentEncoding] ?? "",
                limitBytes: limitBytes
            )
        else { return nil }
        return VendorResponse(status: status, headers: headers, body: body)
    }
}
