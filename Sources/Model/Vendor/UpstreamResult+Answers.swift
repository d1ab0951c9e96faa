import HTTPTypes

// The parts of reading an upstream's answer that all vendors share. An answer is the input of a stranger: every length is limited.
extension UpstreamResult {
    /// The same outcome for every target of a call.
    package init(_ outcome: Outcome, for call: UpstreamCall, reference: String? = nil) {
        self.init(call.targets.map { _ in outcome }, reference: reference)
    }

    /// The call was accepted, except for the targets with the names in `unknown`.
    ///
    /// If the call does not say which target has which name, and the vendor knows some but not all, each target may have got the message.
    package init(acceptedBy call: UpstreamCall, except unknown: Set<String>, reason: String, reference: String?) {
        guard !unknown.isEmpty else {
            self.init(.acceptedByUpstream, for: call, reference: reference)
            return
        }
        guard call.names.count == call.targets.count else {
            self.init(.unclear, for: call, reference: reference)
            return
        }
        let outcomes: [Outcome] = call.names.map { name in
            unknown.contains(name) ? .unknownTarget(reason, status: 200) : .acceptedByUpstream
        }
        self.init(outcomes, reference: outcomes.contains(.acceptedByUpstream) ? reference : nil)
    }

    /// The vendor answers with a success that counts none of the targets.
    ///
    /// An answer that names a message shows that the vendor has stored it, and may send it although it counts nobody. Only if all targets are listed as
    /// unknown, none of them can get it.
    ///
    /// - Parameters:
    ///   - call: the call that was answered.
    ///   - unknown: the names that the answer lists as unknown.
    ///   - message: the vendor's name of the message, as the answer has it.
    ///   - reason: the reason of the rejection.
    ///   - status: the HTTP status of the answer.
    package init(
        countingNobodyOf call: UpstreamCall,
        unknown: Set<String>,
        message: JSON?,
        reason: String,
        status: Int
    ) {
        let areUnknown = call.names.count == call.targets.count && call.names.allSatisfy { unknown.contains($0) }
        if areUnknown || !Self.isNamed(message) {
            self.init(.unknownTarget(reason, status: status), for: call)
        } else {
            self.init(.unclear, for: call, reference: Self.reference(message))
        }
    }

    /// Whether an answer names a message, also by a value that cannot be a reference.
    private static func isNamed(_ message: JSON?) -> Bool {
        switch message {
        case nil, .null?, .string("")?: false
        default: true
        }
    }

    /// 128 bytes for a vendor's name of a message: it is stored, and is an index column.
    private static let referenceBytes = 128

    /// The vendor's name of a message; nil for a value that cannot be one.
    package static func reference(_ value: JSON?) -> String? {
        guard let text = value?.lenientString, !text.isEmpty, text.utf8.count <= referenceBytes,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        return text
    }
}

extension Outcome {
    /// The upstream took the message. It names the message of a call (`UpstreamResult.reference`) and not that of a target.
    package static let acceptedByUpstream = Outcome.accepted(TransportMessageID(""))

    /// The upstream may have taken the message: its answer does not say.
    package static let unclear = Outcome.indeterminate(
        TransportError(.unclearAnswer, "the upstream's answer does not say whether it took the message")
    )

    /// The upstream does not know the target. Another path may be tried. The stored token stays valid, because every registration is younger than `since`:
    /// a vendor that does not know a device says nothing about its token.
    package static func unknownTarget(_ reason: String, status: Int) -> Outcome {
        .rejected(Rejection(scope: .tokenDead(since: Timestamp(milliseconds: 0)), reason: reason, status: status))
    }

    /// The upstream refused the whole call.
    package static func refused(_ scope: Rejection.Scope, _ reason: String, status: Int) -> Outcome {
        .rejected(Rejection(scope: scope, reason: reason, status: status))
    }

    /// The outcome that the HTTP status alone proves: the upstream did not take the message. Nil for every other status.
    ///
    /// A redirect and a 5xx prove nothing: a server may have acted before it failed.
    package init?(refusedBy response: VendorResponse) {
        let reason = "HTTP \(response.status)"
        switch response.status {
        case 400, 413, 414, 415, 422: self = .refused(.content, reason, status: response.status)
        case 401, 403, 404, 405, 407: self = .refused(.credential, reason, status: response.status)
        case 429:
            self = .deferred(
                Rejection(scope: .service, reason: reason, status: response.status),
                after: response.retryAfter
            )
        default: return nil  // every other status leaves the decision to the body
        }
    }
}

extension VendorResponse {
    /// A day: a vendor that asks for more would hold deliveries until they expire.
    private static let longestWait: Int64 = 86_400

    /// `Retry-After` in seconds, at most a day. Nil: absent, or a date.
    package var retryAfter: Duration? {
        guard let text = headers[.retryAfter], let seconds = Int64(text), seconds >= 0 else { return nil }
        return .seconds(min(seconds, Self.longestWait))
    }
}
