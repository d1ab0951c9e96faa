/// APNs' reason for the refusal of a request. The set is open: an unknown reason keeps its text and is treated by its status.
///
/// The meaning of each reason is in `ReasonRule`.
package enum APNsReason: Sendable, Hashable {
    // Reasons for a push, docs/contracts/apns.md#9.
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
    // Reasons for a broadcast or a request about channels, docs/contracts/apns.md#12, in addition to many of the above.
    case featureNotEnabled, missingChannelID, badChannelID, channelNotRegistered, badRequestParams, badRequestPayload
    case missingPushType, cannotCreateChannelConfig, missingChannelQueueSize, topicMismatch
    /// Printable ASCII, at most `APNsLimits.maxReasonBytes`; empty if the answer contained no reason.
    case unknown(String)

    /// Other spellings that were seen: that of APNSwift, and that of Apple's own page on broadcasts.
    private static let alternatives: [String: APNsReason] = [
        "BadEnvironmentKeyInToken": .badEnvironmentKeyIDInToken,
        "Service Unavailable": .serviceUnavailable,
    ]

    private static let byName = Dictionary(ReasonRule.table.map { ($0.name, $0.reason) }) { first, _ in first }
    private static let byReason = Dictionary(ReasonRule.table.map { ($0.reason, $0) }) { first, _ in first }

    /// Reads Apple's spelling. Any other text becomes `unknown`, shortened and cleaned, because it is used in logs and labels.
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

    /// The reason's row of the outcome table; nil for an unknown reason.
    package var rule: ReasonRule? { Self.byReason[self] }
}
