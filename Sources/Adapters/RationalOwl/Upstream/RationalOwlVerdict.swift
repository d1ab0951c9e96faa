import Model

/// Reads the answer to a send (docs/contracts/rationalowl.md#8.3). It has one result for all targets: the vendor reports unknown devices later, as state 6.
///
/// Assumed: a refusal has `rc`, as the gateway's own answers do; the vendor documents only `mId`. An answer without both proves nothing.
struct RationalOwlVerdict {
    private let response: VendorResponse

    init(_ response: VendorResponse) {
        self.response = response
    }

    func result(of call: UpstreamCall) -> UpstreamResult {
        if let refused = Outcome(refusedBy: response) { return UpstreamResult(refused, for: call) }
        guard response.status == 200, let body = (try? JSONParser.parse(response.body))?.object else {
            return UpstreamResult(.unclear, for: call)
        }
        let reference = UpstreamResult.reference(body["mId"])
        guard let value = body["rc"] else {
            return UpstreamResult(reference == nil ? .unclear : .acceptedByUpstream, for: call, reference: reference)
        }
        let code = value.lenientInt.flatMap { Int(exactly: $0) }.flatMap(RationalOwlCode.init(rawValue:))
        let outcome = code.map { self.outcome(of: $0, in: body) } ?? .unclear
        return UpstreamResult(outcome, for: call, reference: code == .ok ? reference : nil)
    }

    private func outcome(of code: RationalOwlCode, in body: JSONObject) -> Outcome {
        let reason = "rc \(code.rawValue)"
        switch code {
        case .ok: return .acceptedByUpstream
        case .clientNotRegistered, .accountNotRegistered, .accountMismatch:
            return .refused(.credential, reason, status: response.status)
        // The vendor cannot push to this app's devices; another path may.
        case .certificateMissing: return .unknownTarget(reason, status: response.status)
        case .templateNotRegistered: return .refused(.content, reason, status: response.status)
        // With a comment it names the field that is wrong.
        case .unknown:
            let isExplained = body["cmt"]?.string?.isEmpty == false
            return isExplained ? .refused(.content, reason, status: response.status) : .unclear
        // Codes of other calls.
        case .clientAlreadyRegistered, .accountAlreadyRegistered, .certificateAlreadyRegistered,
            .messageSettingDuplicate, .userAlreadyRegistered:
            return .unclear
        }
    }
}
