/// The evidence that a rule is Apple's.
package enum Evidence: String, Sendable {
    /// Stated in Apple's documentation.
    case documented = "D"
    /// Seen by other providers on the real service.
    case observed = "O"
    /// Our own deduction.
    case deduced = "X"
}

/// The refusal of a request.
package struct RuleRefusal: Sendable, Equatable {
    /// The HTTP status of the answer.
    package var status: Int

    /// Apple's reason, or a scripted one.
    package var reason: String

    /// Milliseconds since 1970; only with 410.
    package var timestamp: Int?
    /// Seconds for a `retry-after` header.
    package var retryAfter: Int?

    /// Creates Apple's answer for a reason.
    package init(_ reason: Reason, timestamp: Int? = nil) {
        status = reason.status
        self.reason = reason.rawValue
        self.timestamp = timestamp
    }

    /// Creates a scripted answer, which Apple may never give.
    package init(status: Int, reason: String, timestamp: Int?, retryAfter: Int?) {
        self.status = status
        self.reason = reason
        self.timestamp = timestamp
        self.retryAfter = retryAfter
    }
}

/// One row of the rule table.
struct Rule: Sendable {
    /// The row's number in the table of docs/simulator.md#rules; from 40 on, the rows of broadcasts and channels.
    var row: Int

    /// The evidence that the rule is Apple's.
    var evidence: Evidence

    /// Checks the request; returns a refusal, or nil to continue with the next rule.
    var check: @Sendable (inout Examination) -> RuleRefusal?

    init(_ row: Int, _ evidence: Evidence, _ check: @escaping @Sendable (inout Examination) -> RuleRefusal?) {
        self.row = row
        self.evidence = evidence
        self.check = check
    }
}

/// One request during the check of the rules, with the results of earlier rules for later ones.
struct Examination {
    /// A verified provider token, with the key that signed it unless any key is accepted.
    struct Candidate {
        var token: ReceivedProviderToken
        var key: ProviderKey?
    }

    let request: PushRequest
    let settings: RuleBook.Settings
    let facts: WorldFacts
    let now: Int

    var connection: ConnectionState

    /// The purpose of the path (row 7).
    var endpoint = Endpoint.device

    /// A token that is new on this connection, until rule 14 makes it the connection's token.
    var candidate: Candidate?

    /// The last part of the path (row 7).
    var deviceToken = ""

    /// The id of the request: `apns-id` for pushes, `apns-request-id` for broadcasts and channel calls.
    var givenID: String? {
        endpoint == .device && connection.listener == .send ? request.apnsID : request.requestID
    }

    /// The id of the request if it is a UUID; every answer returns it, even a refusal (row 8).
    var apnsID: String? { givenID.flatMap { EnvelopeRules.isUUID($0) ? $0 : nil } }

    /// The effective topic: that of the header, or the only one of a certificate (row 15).
    var topic = ""

    /// The push type in the header, if it is one of Apple's.
    var pushType: SimulatedPushType?

    /// The channel of a broadcast or channel call (rows 44 to 46).
    var channel: BroadcastChannel?

    /// The scripted answer for this device token (row 22).
    var scripted: ScriptedAnswer?

    /// Faults because of which a device would not show the push although Apple accepts it (row 27).
    var findings: [String] = []

    /// The contents of a successful answer.
    var reply = SuccessReply()
}
