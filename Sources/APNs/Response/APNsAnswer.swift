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

    /// The rule for a refusal: apns.md §9 as a table, with its Decisions.
    ///
    /// - Parameters:
    ///   - reason: APNs' word.
    ///   - status: decides only where the reason is unknown.
    ///   - since: when the token was last known to be invalid; only 410 answers name it.
    ///   - retryAfter: what the answer asked for, if it did. 429 and 5xx without it follow the queue's own policy.
    package init(reason: APNsReason, status: Int, since: Timestamp? = nil, retryAfter: Duration? = nil) {
        func rejected(_ scope: Rejection.Scope) -> Outcome {
            .rejected(Rejection(scope: scope, reason: reason.wireName, status: status))
        }
        func deferred(_ scope: Rejection.Scope) -> Outcome {
            .deferred(Rejection(scope: scope, reason: reason.wireName, status: status), after: retryAfter)
        }
        switch reason {
        case .badCollapseID, .badExpirationDate, .badMessageID, .badPriority, .duplicateHeaders, .invalidPushType,
            .missingDeviceToken, .payloadEmpty, .badPath, .methodNotAllowed, .payloadTooLarge:
            self.init(rejected(.content))
        // Doubtful, not dead: a wrong host or topic of ours gives the same words for good tokens (design §5.6).
        case .badDeviceToken, .deviceTokenNotForTopic:
            self.init(rejected(.tokenDoubtful))
        case .expiredToken, .unregistered:
            self.init(rejected(.tokenDead(since: since)))
        case .badTopic, .missingTopic, .topicDisallowed, .badCertificate, .badCertificateEnvironment, .forbidden,
            .invalidProviderToken, .missingProviderToken, .badEnvironmentKeyIDInToken:
            self.init(rejected(.credential))
        case .unrelatedKeyIDInToken:
            self.init(rejected(.credential), .reconnectAndResend)
        case .expiredProviderToken:
            self.init(deferred(.credential), .renewTokenAndResend)
        // Never a new token: that is what it complains of.
        case .tooManyProviderTokenUpdates:
            self.init(deferred(.credential), .reconnectAndResend)
        case .idleTimeout:
            self.init(deferred(.service), .reconnectAndResend)
        case .tooManyRequests, .serviceUnavailable:
            self.init(deferred(.service))
        case .internalServerError:
            self.init(deferred(.service), .suspect)
        case .shutdown:
            self.init(deferred(.service), .retire)
        case .unknown:
            self = Self.byStatus(status, rejected: rejected, deferred: deferred, since: since)
        }
    }

    /// What a status alone says, for words that Apple adds after us and for answers without a body.
    ///
    /// Assumed: 403 concerns the credential and 410 the token, as Apple's table of status codes describes them; every other 4xx is the push's
    /// own fault. A status that APNs never sends (a proxy's 3xx) is not now, rather than never.
    private static func byStatus(
        _ status: Int,
        rejected: (Rejection.Scope) -> Outcome,
        deferred: (Rejection.Scope) -> Outcome,
        since: Timestamp?
    ) -> APNsAnswer {
        switch status {
        case 403: APNsAnswer(rejected(.credential))
        case 410: APNsAnswer(rejected(.tokenDead(since: since)))
        case 429: APNsAnswer(deferred(.service))
        case 400..<500: APNsAnswer(rejected(.content))
        case 500..<600: APNsAnswer(deferred(.service), .suspect)
        default: APNsAnswer(deferred(.service))
        }
    }
}

extension APNsAnswer {
    /// Reads a response. Lenient: the body may be missing, cut, not JSON, or hold keys we do not know.
    ///
    /// A yes that names no id is accepted with an empty one.
    init(_ response: Response) {
        if (200..<300).contains(response.status) {
            let id = response.value(APNsHeader.id).map(Self.lowercased) ?? ""
            self.init(.accepted(TransportMessageID(id, logKey: response.value(APNsHeader.uniqueID))))
            return
        }
        let body = try? JSONParser.parse(Array(response.body))
        self.init(
            reason: APNsReason(wire: body?["reason"]?.string ?? ""),
            status: response.status,
            since: body?["timestamp"]?.lenientInt.map(Timestamp.init(milliseconds:)),
            retryAfter: response.value(APNsHeader.retryAfter).flatMap(Self.retryAfter)
        )
    }

    /// Seconds; the date form is not believed, because nobody documents it here.
    private static func retryAfter(_ text: String) -> Duration? {
        guard let seconds = Int64(text), seconds >= 0 else { return nil }
        return seconds > APNsLimits.maxRetryAfter.components.seconds ? APNsLimits.maxRetryAfter : .seconds(seconds)
    }

    /// Ids that APNs makes itself come back in capitals; ours stay as they are, without a copy.
    private static func lowercased(_ text: String) -> String {
        let hasCapital = text.utf8.contains { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
        return hasCapital ? text.lowercased() : text
    }
}
