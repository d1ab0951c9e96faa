/// APNs' word for why it refused a request. Open: a word that we do not know keeps its text and is treated by its status.
///
/// What each means is in `ReasonRule`.
package enum APNsReason: Sendable, Hashable {
    // A push, docs/contracts/apns.md#9.
    case badCollapseID, badDeviceToken, badExpirationDate, badMessageID, badPriority, badTopic
    case deviceTokenNotForTopic, duplicateHeaders, idleTimeout, invalidPushType, missingDeviceToken, missingTopic
    case payloadEmpty, topicDisallowed
    case badCertificate, badCertificateEnvironment, expiredProviderToken, forbidden, invalidProviderToken
    case missingProviderToken, unrelatedKeyIDInToken, badEnvironmentKeyIDInToken
    case badPath, methodNotAllowed
    case expiredToken, unregistered
    case payloadTooLarge
    case tooManyProviderTokenUpdates, tooManyRequests
    case internalServerError, serviceUnavailable, shutdown
    // A broadcast or a call about channels, docs/contracts/apns.md#12, in addition to many of the above.
    case featureNotEnabled, missingChannelID, badChannelID, channelNotRegistered, badRequestParams, badRequestPayload
    case missingPushType, cannotCreateChannelConfig, missingChannelQueueSize, topicMismatch
    /// Printable ASCII, at most `APNsLimits.maxReasonBytes`; empty if the answer named none.
    case unknown(String)

    /// Other spellings that were seen: APNSwift's, and the one of Apple's own page on broadcasts.
    private static let alternatives: [String: APNsReason] = [
        "BadEnvironmentKeyInToken": .badEnvironmentKeyIDInToken,
        "Service Unavailable": .serviceUnavailable,
    ]

    private static let byName = Dictionary(ReasonRule.table.map { ($0.name, $0.reason) }) { first, _ in first }
    private static let byReason = Dictionary(ReasonRule.table.map { ($0.reason, $0) }) { first, _ in first }

    /// Reads Apple's spelling; anything else becomes `unknown`, cut and cleaned, because it ends in logs and labels.
    package init(wire text: String) {
        if let known = Self.byName[text] ?? Self.alternatives[text] {
            self = known
        } else {
            let bytes = text.utf8.lazy.filter { $0 > 0x20 && $0 < 0x7F }.prefix(APNsLimits.maxReasonBytes)
            self = .unknown(String(decoding: Array(bytes), as: UTF8.self))
        }
    }

    /// Apple's spelling.
    package var wireName: String {
        if case .unknown(let text) = self { text } else { rule?.name ?? "" }
    }

    /// Its row of the outcome table; nil for a word that we do not know.
    package var rule: ReasonRule? { Self.byReason[self] }
}
