/// One call to a back end.
package struct WebhookCall: Sendable, Hashable {
    package var url: String
    package var contentType: String
    package var body: [UInt8]
    /// The value of `X-Gateway-Signature`.
    package var signature: String
    /// Whether more calls to the same URL are likely to follow at once, so that the connection should stay open.
    package var keepsConnection: Bool

    package init(
        url: String,
        contentType: String,
        body: [UInt8],
        signature: String,
        keepsConnection: Bool = false
    ) {
        self.url = url
        self.contentType = contentType
        self.body = body
        self.signature = signature
        self.keepsConnection = keepsConnection
    }
}

/// The result of a call.
package enum CallOutcome: Sendable, Hashable {
    /// Any 2xx.
    case accepted
    /// Another status, including redirects, which are not followed.
    case refused(status: Int)
    /// The address must not be reached, or the URL is invalid.
    case forbidden
    /// No answer, because of DNS, connection, TLS or timeout. The text is fixed and contains nothing from the peer.
    case failed(String)

    /// The reason for rows and logs, at most 32 bytes.
    package var reason: String {
        switch self {
        case .accepted: "accepted"
        case .refused(let status): "status \(status)"
        case .forbidden: "forbidden address"
        case .failed(let word): word
        }
    }
}

/// Makes calls. Requirements on an implementation: an answer within its time, no redirects, no connection to an address that the guard refuses, and
/// no errors thrown.
package protocol WebhookCaller: Sendable {
    /// Makes one attempt.
    func post(_ call: WebhookCall) async -> CallOutcome
}
