import HTTPTypes
import Model

/// Reads the vendor's answer to a send. Every answer gives an outcome; one that does not say whether the vendor accepted the send is indeterminate.
struct HubsOutcome {
    private let response: VendorResponse

    init(_ response: VendorResponse) { self.response = response }

    func result(targetCount: Int) -> UpstreamResult {
        let one = outcome
        let isAccepted = if case .accepted = one { true } else { false }
        return UpstreamResult(Array(repeating: one, count: targetCount), reference: isAccepted ? reference : nil)
    }

    private var outcome: Outcome {
        switch response.status {
        case 200, 201: return .accepted(TransportMessageID(""))
        // 413: docs/contracts/notificationhubs.md#7.
        case 400, 413: return .rejected(rejection(.content))
        // 404 and 410: the host has no such hub.
        case 401, 404, 410: return .rejected(rejection(.credential))
        // A key without the right to send is answered without a body (docs/contracts/notificationhubs.md#3.4), an exhausted quota with one.
        case 403 where response.body.isEmpty: return .rejected(rejection(.credential))
        case 403, 429, 503: return .deferred(rejection(.service), after: retryAfter)
        default:
            let detail = "the answer does not say whether the push was accepted: status \(response.status)"
            return .indeterminate(TransportError(.reset, detail))
        }
    }

    private func rejection(_ scope: Rejection.Scope) -> Rejection {
        Rejection(scope: scope, reason: reason, status: response.status)
    }

    /// The detail of the error without its tracking part (docs/contracts/notificationhubs.md#3.5); the status if there is none.
    private var reason: String {
        let text = String(decoding: response.body.prefix(HubsLimits.detailBytes), as: UTF8.self)
        var detail = ""
        if let start = text.firstRange(of: "<Detail>") {
            let rest = text[start.upperBound...]
            let end = rest.firstRange(of: ".TrackingId:") ?? rest.firstRange(of: "</Detail>")
            detail = String(end.map { rest[..<$0.lowerBound] } ?? rest).printable(HubsLimits.reasonBytes)
        }
        return detail.isEmpty ? "status \(response.status)" : detail
    }

    /// Whole seconds. A date, and other texts, leave the time to the queue.
    private var retryAfter: Duration? {
        guard let text = header("Retry-After"), let seconds = Int64(text), seconds > 0 else { return nil }
        return min(.seconds(min(seconds, 86_400)), HubsLimits.longestRetry)
    }

    /// The id of the notification, which is the last part of its location (docs/contracts/notificationhubs.md#7); without one, the id by which the vendor's support finds
    /// the call.
    private var reference: String? { references.first }

    /// Both, in this order, as far as the answer has them.
    var references: [String] {
        let location = header("Location").map { $0.prefix { $0 != "?" } }
        let words = [Self.word(location?.split(separator: "/").last), Self.word(header("TrackingId")?[...])]
        return words.compactMap(\.self)
    }

    /// Nil: not a word of printable characters, or too long.
    private static func word(_ text: Substring?) -> String? {
        guard let text, (1...HubsLimits.referenceBytes).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return String(text)
    }

    private func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { response.headers[$0] } }
}
