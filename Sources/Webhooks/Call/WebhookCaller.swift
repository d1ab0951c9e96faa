/// One call to somebody's back end.
package struct WebhookCall: Sendable, Hashable {
    package var url: String
    package var contentType: String
    package var body: [UInt8]
    /// The value of `X-Gateway-Signature`.
    package var signature: String

    package init(url: String, contentType: String, body: [UInt8], signature: String) {
        self.url = url
        self.contentType = contentType
        self.body = body
        self.signature = signature
    }
}

/// How a call ended.
package enum CallOutcome: Sendable, Hashable {
    /// Any 2xx.
    case accepted
    /// Another status; a redirect is one, because it is not followed.
    case refused(status: Int)
    /// The address may not be reached, or the URL names none.
    case forbidden
    /// No answer: name, connection, TLS or time. A fixed word, nothing of the peer's.
    case failed(String)

    /// The word for rows and logs, at most 32 bytes.
    package var reason: String {
        switch self {
        case .accepted: "accepted"
        case .refused(let status): "status \(status)"
        case .forbidden: "forbidden address"
        case .failed(let word): word
        }
    }
}

/// Makes calls. What the implementer owes: one attempt within its time, no redirect followed, no address reached that the guard refuses, and
/// never a throw.
package protocol WebhookCaller: Sendable {
    /// Makes one attempt.
    func post(_ call: WebhookCall) async -> CallOutcome
}
