import APNs
import Model
import Testing

/// Every row of docs/contracts/apns.md#9, written from the table, not from the code.
struct APNsReasonTests {
    /// The effect of the table's class on the push.
    enum Expected: Sendable {
        /// PERM and BUG: the push is rejected permanently.
        case content
        /// DROP with the rule for 410.
        case dead
        /// DROP for BadDeviceToken and DeviceTokenNotForTopic: quarantine, see docs/apns.md#outcomes.
        case doubtful
        /// CONF.
        case credential
        /// BACK.
        case later
        /// AUTH: one retry inside the transport, then deferred.
        case laterCredential
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let status: Int
        let reason: String
        let expected: Expected
        /// True if only Apple's list of reasons for broadcasts contains it, and not the list for pushes.
        var isOfChannels = false
        var remedy = APNsAnswer.Remedy.none
        var testDescription: String { "\(status) \(reason)" }
    }

    static let rows = [
        Row(status: 400, reason: "BadCollapseId", expected: .content),
        Row(status: 400, reason: "BadDeviceToken", expected: .doubtful),
        Row(status: 400, reason: "BadExpirationDate", expected: .content),
        Row(status: 400, reason: "BadMessageId", expected: .content),
        Row(status: 400, reason: "BadPriority", expected: .content),
        Row(status: 400, reason: "BadTopic", expected: .credential),
        Row(status: 400, reason: "DeviceTokenNotForTopic", expected: .doubtful),
        Row(status: 400, reason: "DuplicateHeaders", expected: .content),
        Row(status: 400, reason: "IdleTimeout", expected: .later, remedy: .reconnectAndResend),
        Row(status: 400, reason: "InvalidPushType", expected: .content),
        Row(status: 400, reason: "MissingDeviceToken", expected: .content),
        Row(status: 400, reason: "MissingTopic", expected: .credential),
        Row(status: 400, reason: "PayloadEmpty", expected: .content),
        Row(status: 400, reason: "TopicDisallowed", expected: .credential),
        Row(status: 403, reason: "BadCertificate", expected: .credential),
        Row(status: 403, reason: "BadCertificateEnvironment", expected: .credential),
        Row(status: 403, reason: "ExpiredProviderToken", expected: .laterCredential, remedy: .renewTokenAndResend),
        Row(status: 403, reason: "Forbidden", expected: .credential),
        Row(status: 403, reason: "InvalidProviderToken", expected: .credential),
        Row(status: 403, reason: "MissingProviderToken", expected: .credential),
        Row(status: 403, reason: "UnrelatedKeyIdInToken", expected: .credential, remedy: .reconnectAndResend),
        Row(status: 403, reason: "BadEnvironmentKeyIdInToken", expected: .credential),
        Row(status: 404, reason: "BadPath", expected: .content),
        Row(status: 405, reason: "MethodNotAllowed", expected: .content),
        Row(status: 410, reason: "ExpiredToken", expected: .dead),
        Row(status: 410, reason: "Unregistered", expected: .dead),
        Row(status: 413, reason: "PayloadTooLarge", expected: .content),
        Row(
            status: 429,
            reason: "TooManyProviderTokenUpdates",
            expected: .laterCredential,
            remedy: .reconnectAndResend
        ),
        Row(status: 429, reason: "TooManyRequests", expected: .later),
        Row(status: 500, reason: "InternalServerError", expected: .later, remedy: .suspect),
        Row(status: 503, reason: "ServiceUnavailable", expected: .later),
        Row(status: 503, reason: "Shutdown", expected: .later, remedy: .retire),
        // docs/contracts/apns.md#12: broadcasts and calls about channels.
        Row(status: 400, reason: "FeatureNotEnabled", expected: .credential, isOfChannels: true),
        Row(status: 400, reason: "MissingChannelId", expected: .content, isOfChannels: true),
        Row(status: 400, reason: "BadChannelId", expected: .content, isOfChannels: true),
        Row(status: 400, reason: "ChannelNotRegistered", expected: .content, isOfChannels: true),
        Row(status: 400, reason: "BadRequestParams", expected: .content, isOfChannels: true),
        Row(status: 400, reason: "BadRequestPayload", expected: .content, isOfChannels: true),
        Row(status: 400, reason: "MissingPushType", expected: .content, isOfChannels: true),
        Row(status: 400, reason: "CannotCreateChannelConfig", expected: .content, isOfChannels: true),
        Row(status: 400, reason: "MissingChannelQueueSize", expected: .content, isOfChannels: true),
        Row(status: 403, reason: "TopicMismatch", expected: .credential, isOfChannels: true),
    ]

    @Test func tableContainsExactlyTheRowsOfTheDocument() {
        #expect(Set(ReasonRule.table.map { "\($0.status) \($0.name)" }) == Set(Self.rows.map(\.testDescription)))
        #expect(ReasonRule.table.count == Self.rows.count)
        #expect(Set(ReasonRule.table.map(\.reason)).count == Self.rows.count)
    }

    // "Never retry: BadDeviceToken, DeviceTokenNotForTopic, Forbidden, ExpiredToken, Unregistered, PayloadTooLarge." (docs/contracts/apns.md#9.2)
    @Test(arguments: [
        "BadDeviceToken", "DeviceTokenNotForTopic", "Forbidden", "ExpiredToken", "Unregistered", "PayloadTooLarge",
    ])
    func reasonsThatMustNeverBeRetriedAreFinal(name: String) {
        let answer = APNsAnswer(reason: APNsReason(wire: name), status: 400)
        guard case .rejected = answer.outcome else { return #expect(Bool(false), "\(answer)") }
        #expect(answer.remedy == .none)
    }

    // "Only 410 condemns", and the timestamp is the time since which the token is invalid
    // (docs/contracts/apns.md#9.1).
    @Test func only410CondemnsAToken() {
        for row in Self.rows {
            guard
                case .rejected(let rejection) = APNsAnswer(reason: APNsReason(wire: row.reason), status: row.status)
                    .outcome
            else { continue }
            let condemns = if case .tokenDead = rejection.scope { true } else { false }
            #expect(condemns == (row.status == 410), "\(row)")
        }
    }

    @Test(arguments: rows)
    func everyReasonOfTheTableIsTreatedByItsClass(row: Row) {
        let since = Timestamp(milliseconds: 1_790_000_000_123)
        let reason = APNsReason(wire: row.reason)
        if case .unknown = reason { Issue.record("\(row.reason) is not known") }
        #expect(reason.wireName == row.reason)
        let answer = APNsAnswer(reason: reason, status: row.status, since: since)
        #expect(answer.remedy == row.remedy)
        func rejection(_ scope: Rejection.Scope) -> Rejection {
            Rejection(scope: scope, reason: row.reason, status: row.status)
        }
        let expected: Outcome =
            switch row.expected {
            case .content: .rejected(rejection(.content))
            case .dead: .rejected(rejection(.tokenDead(since: since)))
            case .doubtful: .rejected(rejection(.tokenDoubtful))
            case .credential: .rejected(rejection(.credential))
            case .later: .deferred(rejection(.service), after: nil)
            case .laterCredential: .deferred(rejection(.credential), after: nil)
            }
        #expect(answer.outcome == expected)
    }

    @Test func apnSwiftsSpellingOfTheEnvironmentKeyReasonIsTheSameReason() {
        #expect(APNsReason(wire: "BadEnvironmentKeyInToken") == .badEnvironmentKeyIDInToken)
        #expect(APNsReason.badEnvironmentKeyIDInToken.wireName == "BadEnvironmentKeyIdInToken")
    }

    // "ServiceUnavailable (the page prints it with a space)" (docs/contracts/apns.md#12)
    @Test func spacedSpellingOfServiceUnavailableIsTheSameReason() {
        #expect(APNsReason(wire: "Service Unavailable") == .serviceUnavailable)
        #expect(APNsReason.serviceUnavailable.wireName == "ServiceUnavailable")
    }

    // "Unknown reason: decide by status (4xx → PERM, 429 → BACK, 5xx → BACK)."
    @Test(arguments: [
        (400, "content"), (403, "credential"), (404, "content"), (410, "dead"), (413, "content"), (429, "later"),
        (500, "later"), (503, "later"), (599, "later"), (302, "later"), (418, "content"),
    ])
    func unknownReasonIsTreatedByStatusAndKept(status: Int, expected: String) {
        let answer = APNsAnswer(reason: APNsReason(wire: "NewIn2027"), status: status)
        let (kind, rejection) =
            switch answer.outcome {
            case .rejected(let rejection):
                switch rejection.scope {
                case .content: ("content", rejection)
                case .tokenDead(since: nil): ("dead", rejection)
                case .credential: ("credential", rejection)
                default: ("other", rejection)
                }
            case .deferred(let rejection, nil): ("later", rejection)
            default: ("other", Rejection(scope: .content, reason: "", status: 0))
            }
        #expect(kind == expected)
        #expect(rejection.reason == "NewIn2027")
        #expect(rejection.status == status)
    }

    @Test func unknownReasonIsCutAndCleaned() {
        let wild = "A\u{0}B\nC \u{7F}é" + String(repeating: "x", count: 500)
        let name = APNsReason(wire: wild).wireName
        #expect(name.hasPrefix("ABCxxx"))
        #expect(name.utf8.count == 64)
    }

    @Test func requestedDelayIsPassedOn() {
        let answer = APNsAnswer(reason: .tooManyRequests, status: 429, retryAfter: .seconds(7))
        guard case .deferred(_, let after) = answer.outcome else { return #expect(Bool(false)) }
        #expect(after == .seconds(7))
    }
}
