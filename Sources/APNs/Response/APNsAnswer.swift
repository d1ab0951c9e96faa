internal import HTTP2
package import Model

/// The meaning of one answer of APNs, for the push and for its connection.
package struct APNsAnswer: Sendable, Equatable {
    /// The action that the connection or the provider token needs.
    package enum Remedy: Sendable, Equatable {
        case none
        /// The server is shutting down: start no streams on this connection, and let it finish its requests.
        case retire
        /// A second consecutive answer of this kind retires the connection.
        case suspect
        /// Open a new connection and send the push once more on it.
        case reconnectAndResend
        /// Fetch a new token, open a new connection and send the push once more on it: a connection that saw an expired token never recovers.
        case renewTokenAndResend
    }

    /// How the push ended. If the remedy is to resend, this is the outcome when that is not possible.
    package let outcome: Outcome
    package let remedy: Remedy

    package init(_ outcome: Outcome, _ remedy: Remedy = .none) {
        self.outcome = outcome
        self.remedy = remedy
    }

    /// The meaning of a refusal: its row in `ReasonRule`, or its status if the reason is unknown.
    ///
    /// - Parameters:
    ///   - reason: APNs' reason.
    ///   - status: used only if the reason is unknown.
    ///   - since: when the token was last known to be invalid; only 410 answers contain it.
    ///   - retryAfter: the wait that the answer requested, if any. Without it, 429 and 5xx follow the queue's own policy.
    package init(reason: APNsReason, status: Int, since: Timestamp? = nil, retryAfter: Duration? = nil) {
        guard let rule = reason.rule else {
            self = Self.byStatus(status, word: reason.wireName, since: since, retryAfter: retryAfter)
            return
        }
        let scope: Rejection.Scope =
            switch rule.subject {
            case .request, .channel: .content
            case .deadToken: .tokenDead(since: since)
            case .doubtfulToken: .tokenDoubtful
            case .credential: .credential
            case .topic: .topic
            case .service: .service
            }
        let rejection = Rejection(scope: scope, reason: rule.name, status: status)
        switch rule.retry {
        case .never, .whenMended: self.init(.rejected(rejection), rule.remedy)
        case .later: self.init(.deferred(rejection, after: retryAfter), rule.remedy)
        }
    }

    /// The meaning of a status alone, for unknown reasons and for answers without a body.
    ///
    /// Assumed: 403 concerns the credential and 410 the token, as Apple's table of status codes describes them; every other 4xx concerns the push itself. A
    /// status that APNs never sends (a proxy's 3xx) defers the push instead of rejecting it.
    private static func byStatus(
        _ status: Int,
        word: String,
        since: Timestamp?,
        retryAfter: Duration?
    ) -> APNsAnswer {
        func rejected(_ scope: Rejection.Scope) -> APNsAnswer {
            APNsAnswer(.rejected(Rejection(scope: scope, reason: word, status: status)))
        }
        func deferred(_ remedy: Remedy = .none) -> APNsAnswer {
            APNsAnswer(.deferred(Rejection(scope: .service, reason: word, status: status), after: retryAfter), remedy)
        }
        return switch status {
        case 403: rejected(.credential)
        case 410: rejected(.tokenDead(since: since))
        case 429: deferred()
        case 400..<500: rejected(.content)
        case 500..<600: deferred(.suspect)
        default: deferred()
        }
    }
}

extension APNsAnswer {
    /// The id of an accepting answer that contains only a UUID, as nearly all answers do; reading it needs no `String`. Nil for any other answer.
    static func plainYes(_ response: borrowing Response) -> PushID? {
        guard isSuccess(response.status) else { return nil }
        return response.withOnlyValue(APNsHeader.id, { PushID(text: $0) }) ?? nil
    }

    /// Reads any response.
    init(_ response: Response) {
        self.init(
            status: response.status,
            body: response.body,
            id: response.value(APNsHeader.id),
            uniqueID: response.value(APNsHeader.uniqueID),
            retryAfter: response.value(APNsHeader.retryAfter)
        )
    }

    /// Reads an answer. It tolerates a body that is missing, cut, not JSON, or contains unknown keys.
    ///
    /// - Parameters:
    ///   - status: 2xx means accepted, whatever else the answer contains; without an id, the accepted id is empty.
    ///   - body: read for refusals only.
    ///   - id: `apns-id`.
    ///   - uniqueID: `apns-unique-id`.
    ///   - retryAfter: `retry-after`, in seconds.
    package init(
        status: Int,
        body: ArraySlice<UInt8>,
        id: String? = nil,
        uniqueID: String? = nil,
        retryAfter: String? = nil
    ) {
        if Self.isSuccess(status) {
            self.init(.accepted(TransportMessageID(id ?? "", logKey: uniqueID)))
            return
        }
        let body = AnswerBody(body)
        self.init(
            reason: body.reason,
            status: status,
            since: body.since,
            retryAfter: retryAfter.flatMap(Self.retryAfter)
        )
    }

    private static func isSuccess(_ status: Int) -> Bool { (200..<300).contains(status) }

    /// Reads a number of seconds. The date form is ignored, because nothing documents it for APNs.
    static func retryAfter(_ text: String) -> Duration? {
        guard let seconds = Int64(text), seconds >= 0 else { return nil }
        return seconds > APNsLimits.maxRetryAfter.components.seconds ? APNsLimits.maxRetryAfter : .seconds(seconds)
    }
}
