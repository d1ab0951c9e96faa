/// The result of one attempt.
///
/// A peer's positive or negative answer is a value. A failure to get an answer is an error inside a value. Every case tells the caller whether this push
/// may be sent again. `DeliveryMachine` contains the table of the following actions.
package enum Outcome: Sendable, Hashable {
    /// The peer accepted the push. It is not delivered yet: only a receipt proves that.
    case accepted(TransportMessageID)
    /// The peer rejected the push permanently. The scope of the rejection states its subject.
    case rejected(Rejection)
    /// The peer deferred the push (429, 5xx, a stale provider token). Resend after `after` at the earliest, or by the queue's own policy when nil.
    case deferred(Rejection, after: Duration?)
    /// The peer processed no byte of the push: resending cannot notify a device twice.
    case unsent(TransportError)
    /// The push was sent and no answer came: resending may notify a device twice, so the message's policy decides.
    case indeterminate(TransportError)
}

/// A rejection by the peer, with its reason. A value, not an error.
package struct Rejection: Sendable, Hashable {
    /// The subject of a rejection, which determines what is affected.
    package enum Scope: Sendable, Hashable {
        /// Only this push: it will never be accepted unchanged.
        case content
        /// The token is dead, unless it was registered again after `since` (nil: no time was given).
        case tokenDead(since: Timestamp?)
        /// The token is doubtful: it belongs to another environment or app. It is quarantined, not deleted.
        case tokenDoubtful
        /// The key or certificate: every push through that credential would fail, so the credential is stopped and its deliveries wait.
        case credential
        /// The topic: every push of the app through that credential would fail, so that these deliveries wait. Other apps use the credential.
        case topic
        /// The service or the device's quota is temporarily exhausted.
        case service
    }

    package var scope: Scope
    /// The peer's reason (`BadDeviceToken`), stored even when the gateway does not know it; at most 64 printable bytes.
    package var reason: String
    /// HTTP status, or 0 where the transport has none.
    package var status: Int

    package init(scope: Scope, reason: String, status: Int) {
        self.scope = scope
        self.reason = reason
        self.status = status
    }
}

/// Why a push got no answer. It contains nothing of the push, so that it may be logged and shown.
package struct TransportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Constants over a closed set that may grow without breaking a `switch`.
    package struct Code: Sendable, Hashable {
        private enum Value: String {
            case noConnection, refused, goingAway, timedOut, reset, canceled, noCredential, overloaded, unclearAnswer
        }
        private var value: Value

        /// The connection failed: DNS, TCP or TLS.
        package static let noConnection = Code(value: .noConnection)
        /// The peer refused the stream before processing it.
        package static let refused = Code(value: .refused)
        /// The connection is being closed gracefully.
        package static let goingAway = Code(value: .goingAway)
        /// The deadline of the attempt passed.
        package static let timedOut = Code(value: .timedOut)
        /// The connection or stream broke.
        package static let reset = Code(value: .reset)
        /// The caller cancelled the attempt.
        package static let canceled = Code(value: .canceled)
        /// No such credential is open on this node, or it is stopped.
        package static let noCredential = Code(value: .noCredential)
        /// A limit of the gateway was reached, which the detail names.
        package static let overloaded = Code(value: .overloaded)
        /// The peer answered, and the answer does not say whether it took the push.
        package static let unclearAnswer = Code(value: .unclearAnswer)

        package var name: String { value.rawValue }
    }

    package var code: Code
    /// A fixed sentence for people, without tokens, keys or payload.
    package var detail: String

    package init(_ code: Code, _ detail: String = "") {
        self.code = code
        self.detail = detail
    }

    package var description: String { detail.isEmpty ? code.name : "\(code.name): \(detail)" }
}
