import Model

/// Reads the answer to a send (docs/contracts/upmc.md#1.5 and docs/contracts/upmc.md#1.9.1).
struct UPMCVerdict {
    private let response: VendorResponse

    init(_ response: VendorResponse) {
        self.response = response
    }

    func result(of call: UpstreamCall) -> UpstreamResult {
        if let refused = Outcome(refusedBy: response) { return UpstreamResult(refused, for: call) }
        // The vendor's own callers accept 200 and 201 only.
        guard (200...201).contains(response.status), let answer = try? JSONParser.parse(response.body),
            let code = answer["HEADER"]?["RESULT_CODE"]?.lenientString
        else { return UpstreamResult(.unclear, for: call) }
        guard code == UPMCCode.success.rawValue else { return UpstreamResult(refusal(code), for: call) }
        // The calls of apps have a list with one object instead of the object.
        let body = answer["BODY"]?.object ?? answer["BODY"]?.array?.first?.object ?? JSONObject()
        let unknown = Set((body["NOTEXISTCUIDS"]?.array ?? []).compactMap(\.lenientString))
        if body["REG_SUCCESS_CNT"]?.lenientInt == 0 {
            return UpstreamResult(
                countingNobodyOf: call,
                unknown: unknown,
                message: body["SENDMSG_SEQNO"],
                reason: "REG_SUCCESS_CNT 0",
                status: response.status
            )
        }
        return UpstreamResult(
            acceptedBy: call,
            except: unknown,
            reason: "NOTEXISTCUIDS",
            reference: UpstreamResult.reference(body["SENDMSG_SEQNO"])
        )
    }

    /// Codes outside this list, `500` and `50300` among them, do not say whether the message was taken.
    private func refusal(_ code: String) -> Outcome {
        func refused(_ scope: Rejection.Scope) -> Outcome { .refused(scope, code, status: response.status) }
        switch code {
        case UPMCCode.notSubscribed.rawValue, UPMCCode.reservedNotSubscribed.rawValue:
            return .unknownTarget(code, status: response.status)
        // The app was deleted, or the key has expired.
        case UPMCCode.unauthorized.rawValue, UPMCCode.denied.rawValue, "4444", "-500": return refused(.credential)
        case UPMCCode.badRequest.rawValue, UPMCCode.reservationPassed.rawValue, UPMCCode.reservationFailed.rawValue:
            return refused(.content)
        // The service is paused.
        case "4500":
            let rejection = Rejection(scope: .service, reason: code, status: response.status)
            return .deferred(rejection, after: response.retryAfter)
        default: return .unclear  // an unknown code
        }
    }
}
