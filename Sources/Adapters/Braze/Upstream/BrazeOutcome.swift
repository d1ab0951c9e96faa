import HTTPTypes
import Model

/// Reads the vendor's answer to a send. Every answer gives an outcome; one that does not say whether the vendor accepted the send is indeterminate.
struct BrazeOutcome {
    private let response: VendorResponse
    /// When the call was made: the vendor's times are compared with it.
    private let calledAt: Timestamp

    init(_ response: VendorResponse, calledAt: Timestamp) {
        self.response = response
        self.calledAt = calledAt
    }

    func result(targetCount: Int) -> UpstreamResult {
        let answer = body
        let one = outcome(answer)
        let isAccepted = if case .accepted = one { true } else { false }
        let reference = isAccepted ? Self.word(answer?["dispatch_id"]?.string) : nil
        return UpstreamResult(Array(repeating: one, count: targetCount), reference: reference)
    }

    private func outcome(_ body: JSONObject?) -> Outcome {
        switch response.status {
        // 202: accepted during maintenance (docs/contracts/braze.md#4.2).
        case 200, 201, 202: return .accepted(TransportMessageID(""))
        case 400, 413: return .rejected(rejection(.content, body))
        // 404: the address is not the vendor's.
        case 401, 403, 404: return .rejected(rejection(.credential, body))
        case 429: return .deferred(rejection(.service, body), after: retryAfter)
        default:
            let detail = "the answer does not say whether the push was accepted: status \(response.status)"
            return .indeterminate(TransportError(.reset, detail))
        }
    }

    /// Nil: not an object, or too long.
    private var body: JSONObject? {
        guard response.body.count <= BrazeLimits.answerBytes else { return nil }
        return (try? JSONParser.parse(response.body))?.object
    }

    /// The sentence of the answer; the status if there is none.
    private func rejection(_ scope: Rejection.Scope, _ body: JSONObject?) -> Rejection {
        let text = (body?["message"] ?? body?["error"])?.string ?? ""
        let shown = text.printable(BrazeLimits.reasonBytes)
        let reason = shown.isEmpty ? "status \(response.status)" : shown
        return Rejection(scope: scope, reason: reason, status: response.status)
    }

    /// Until the vendor's window ends; else the seconds that the answer names. Another value leaves the time to the queue.
    private var retryAfter: Duration? {
        if let reset = seconds("X-RateLimit-Reset"), reset > calledAt.seconds {
            return limited(reset - calledAt.seconds)
        }
        return seconds("Retry-After").flatMap { $0 > 0 ? limited($0) : nil }
    }

    private func limited(_ seconds: Int64) -> Duration { .seconds(min(seconds, BrazeLimits.longestRetrySeconds)) }

    /// At most twelve digits.
    private func seconds(_ name: String) -> Int64? {
        guard let text = HTTPField.Name(name).flatMap({ response.headers[$0] }), text.utf8.count <= 12,
            let seconds = Int64(text), seconds >= 0
        else { return nil }
        return seconds
    }

    /// Nil: not a word of printable characters, or too long.
    private static func word(_ text: String?) -> String? {
        guard let text, (1...BrazeLimits.referenceBytes).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return text
    }
}
