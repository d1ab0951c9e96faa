internal import HTTP2
package import Model

/// What one answer of APNs means: for the push, and for the connection it came on.
package struct APNsAnswer: Sendable, Equatable {
    /// What the connection or the provider token needs.
    package enum Remedy: Sendable, Equatable {
        case none
        /// The server is leaving: no new streams on this connection, which finishes what it has.
        case retire
        /// A second one in a row retires the connection.
        case suspect
        /// A new connection, and once more on it.
        case reconnectAndResend
        /// A new token and a new connection, and once more on it: a connection that saw an expired token never recovers.
        case renewTokenAndResend
    }

    /// How the push ended; where the remedy says to resend, how it ends if that is not possible.
    package let outcome: Outcome
    package let remedy: Remedy

    package init(_ outcome: Outcome, _ remedy: Remedy = .none) {
        self.outcome = outcome
        self.remedy = remedy
    }

    /// The meaning of a refusal: its row in `ReasonRule`, or its status where the word is not known.
    ///
    /// - Parameters:
    ///   - reason: APNs' word.
    ///   - status: decides only where the reason is unknown.
    ///   - since: when the token was last known to be invalid; only 410 answers name it.
    ///   - retryAfter: what the answer asked for, if it did. 429 and 5xx without it follow the queue's own policy.
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
            case .service: .service
            }
        let rejection = Rejection(scope: scope, reason: rule.name, status: status)
        switch rule.retry {
        case .never, .whenMended: self.init(.rejected(rejection), rule.remedy)
        case .later: self.init(.deferred(rejection, after: retryAfter), rule.remedy)
        }
    }

    /// What a status alone says, for words that Apple adds after us and for answers without a body.
    ///
    /// Assumed: 403 concerns the credential and 410 the token, as Apple's table of status codes describes them; every other 4xx is the push's
    /// own fault. A status that APNs never sends (a proxy's 3xx) is not now, rather than never.
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
    /// The id of a yes that is a UUID and comes alone, as nearly all answers are: it costs no `String`. Nil for any other.
    static func plainYes(_ response: borrowing Response) -> PushID? {
        guard isYes(response.status) else { return nil }
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

    /// Reads what came back. Lenient: the body may be missing, cut, not JSON, or hold keys that we do not know.
    ///
    /// - Parameters:
    ///   - status: 2xx is a yes, whatever else came with it; one that names no id is accepted with an empty one.
    ///   - body: read for a "no" only.
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
        if Self.isYes(status) {
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

    private static func isYes(_ status: Int) -> Bool { (200..<300).contains(status) }

    /// Seconds; the date form is not believed, because nobody documents it here.
    static func retryAfter(_ text: String) -> Duration? {
        guard let seconds = Int64(text), seconds >= 0 else { return nil }
        return seconds > APNsLimits.maxRetryAfter.components.seconds ? APNsLimits.maxRetryAfter : .seconds(seconds)
    }
}
