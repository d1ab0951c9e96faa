/// How well a rule is known to be Apple's.
package enum Evidence: String, Sendable {
    /// Stated in Apple's documentation.
    case documented = "D"
    /// Seen by other providers on the real service.
    case observed = "O"
    /// Our own deduction.
    case deduced = "X"
}

/// A "no" to one request.
package struct RuleRefusal: Sendable, Equatable {
    /// HTTP status of the answer.
    package var status: Int

    /// Apple's word for it, or a scripted one.
    package var reason: String

    /// Milliseconds since 1970; only with 410.
    package var timestamp: Int?
    /// Seconds for a `retry-after` header.
    package var retryAfter: Int?

    /// Apple's answer for a reason.
    package init(_ reason: Reason, timestamp: Int? = nil) {
        status = reason.status
        self.reason = reason.rawValue
        self.timestamp = timestamp
    }

    /// An answer that somebody scripted, whether or not Apple would give it.
    package init(status: Int, reason: String, timestamp: Int?, retryAfter: Int?) {
        self.status = status
        self.reason = reason
        self.timestamp = timestamp
        self.retryAfter = retryAfter
    }
}

/// One row of the rule table.
struct Rule: Sendable {
    /// Its number in the table of docs/simulator.md#rules; from 40 on, the rows of broadcasts and channels.
    var row: Int

    /// How well it is known to be Apple's.
    var evidence: Evidence

    /// Looks at the request and refuses it or lets it pass to the next rule.
    var check: @Sendable (inout Examination) -> RuleRefusal?

    init(_ row: Int, _ evidence: Evidence, _ check: @escaping @Sendable (inout Examination) -> RuleRefusal?) {
        self.row = row
        self.evidence = evidence
        self.check = check
    }
}

/// One request on its way through the rules, with what earlier rules found out for later ones.
struct Examination {
    /// A provider token that was verified, with the key that signed it unless any key is accepted.
    struct Candidate {
        var token: ReceivedProviderToken
        var key: ProviderKey?
    }

    let request: PushRequest
    let settings: RuleBook.Settings
    let facts: WorldFacts
    let now: Int

    var connection: ConnectionState

    /// What the path is for (row 7).
    var endpoint = Endpoint.device

    /// A token that is new on this connection, until rule 14 makes it the connection's.
    var candidate: Candidate?

    /// The path's last part (row 7).
    var deviceToken = ""

    /// The id the request came with: pushes carry `apns-id`, broadcasts and channel calls `apns-request-id`.
    var givenID: String? {
        endpoint == .device && connection.listener == .send ? request.apnsID : request.requestID
    }

    /// The same if it is a UUID: any answer repeats it, whatever is wrong with the request (row 8).
    var apnsID: String? { givenID.flatMap { EnvelopeRules.isUUID($0) ? $0 : nil } }

    /// The topic that counts: the header's, or the only one of a certificate (row 15).
    var topic = ""

    /// The header's push type when it is one of Apple's.
    var pushType: SimulatedPushType?

    /// The channel of a broadcast or channel call (rows 44 to 46).
    var channel: BroadcastChannel?

    /// What was scripted for this device token (row 22).
    var scripted: ScriptedAnswer?

    /// What a device would not show although Apple accepts it (row 27).
    var findings: [String] = []

    /// What a success gets besides 200.
    var reply = SuccessReply()
}
