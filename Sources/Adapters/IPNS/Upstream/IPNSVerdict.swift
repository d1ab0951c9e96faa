import Model

/// Reads the answer to a send (docs/contracts/ipns.md#2.4 and docs/contracts/ipns.md#2.11).
struct IPNSVerdict {
    private let response: VendorResponse

    init(_ response: VendorResponse) {
        self.response = response
    }

    func result(of call: UpstreamCall) -> UpstreamResult {
        if let refused = Outcome(refusedBy: response) { return UpstreamResult(refused, for: call) }
        guard response.status == 200, let body = (try? JSONParser.parse(response.body))?.object,
            let text = (body["RT"] ?? body["rtCode"])?.lenientString, let code = IPNSCode(rawValue: text)
        else { return UpstreamResult(.unclear, for: call) }
        guard code == .success else { return UpstreamResult(refusal(code), for: call) }
        let unknown = Set((body["NOT_FOUND"]?.array ?? []).compactMap(\.lenientString))
        // The documented answer is 2003.
        if body["ACCEPTED"]?.lenientInt == 0 {
            return UpstreamResult(
                countingNobodyOf: call,
                unknown: unknown,
                message: body["MESSAGE_ID"],
                reason: "ACCEPTED 0",
                status: response.status
            )
        }
        return UpstreamResult(
            acceptedBy: call,
            except: unknown,
            reason: "NOT_FOUND",
            reference: UpstreamResult.reference(body["MESSAGE_ID"])
        )
    }

    private func refusal(_ code: IPNSCode) -> Outcome {
        switch code {
        case .notRegistered: .unknownTarget(code.rawValue, status: response.status)
        case .unknownApp: .refused(.credential, code.rawValue, status: response.status)
        case .tooLarge, .invalidToken, .missing, .invalid, .unknownMessage:
            .refused(.content, code.rawValue, status: response.status)
        // A general failure: the vendor may have sent the message before it failed.
        case .success, .failure: .unclear
        }
    }
}
