/// How one attempt ended.
///
/// A peer's answer, yes or no, is a value; not having been able to ask is an error inside one. Every case answers the one question its caller has
/// next: may this push be sent again? The table of what happens then is in `DeliveryMachine`.
package enum Outcome: Sendable, Hashable {
    /// The peer said yes. That means accepted, not delivered: only a receipt proves that.
    case accepted(TransportMessageID)
    /// The peer said no, for good; the rejection's scope says to what.
    case rejected(Rejection)
    /// The peer said not now (429, 5xx, a stale provider token). Resend no sooner than `after`, or by the queue's own policy when nil.
    case deferred(Rejection, after: Duration?)
    /// No byte of it was processed: resending cannot ring a device twice.
    case unsent(TransportError)
    /// It left us and no answer came: resending may ring a device twice, so the message's policy decides.
    case indeterminate(TransportError)
}

/// The peer's "no", with its reason. A value, not an error.
package struct Rejection: Sendable, Hashable {
    /// What the "no" is about, which decides who suffers for it.
    package enum Scope: Sendable, Hashable {
        /// This push alone: it will never be accepted as it is.
        case content
        /// The token is dead, unless it was registered again after `since` (nil: no time was given).
        case tokenDead(since: Timestamp?)
        /// The token is doubtful: wrong environment, or another app's. It is set aside, not deleted.
        case tokenDoubtful
        /// The key, certificate or topic: every push through that credential would fail, so the credential stops and its deliveries wait.
        case credential
        /// The service or the device's quota, for now.
        case service
    }

    package var scope: Scope
    /// The peer's own word (`BadDeviceToken`), kept also when we do not know it; at most 64 bytes, printable.
    package var reason: String
    /// HTTP status, or 0 where the transport has none.
    package var status: Int

    package init(scope: Scope, reason: String, status: Int) {
        self.scope = scope
        self.reason = reason
        self.status = status
    }

    /// Whether the token must not be used again.
    package var condemnsToken: Bool {
        if case .tokenDead = scope { true } else { false }
    }
}

/// Why a push got no answer. Holds nothing of the push, so that it may be logged and shown.
package struct TransportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Constants over a closed set that may grow without breaking a `switch` of ours.
    package struct Code: Sendable, Hashable {
        private enum Value: String {
            case noConnection, refused, goingAway, timedOut, reset, canceled, noCredential, overloaded
        }
        private var value: Value

        /// Could not connect: DNS, TCP or TLS.
        package static let noConnection = Code(value: .noConnection)
        /// The peer refused the stream before looking at it.
        package static let refused = Code(value: .refused)
        /// The connection is being closed in good order.
        package static let goingAway = Code(value: .goingAway)
        /// The deadline of the attempt passed.
        package static let timedOut = Code(value: .timedOut)
        /// The connection or stream broke.
        package static let reset = Code(value: .reset)
        /// Our own caller gave up.
        package static let canceled = Code(value: .canceled)
        /// No such credential is open on this node, or it is stopped.
        package static let noCredential = Code(value: .noCredential)
        /// A named limit of ours was reached.
        package static let overloaded = Code(value: .overloaded)

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
