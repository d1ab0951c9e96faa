/// APNs' word for why it refused a push. Open: a word we do not know keeps its text and is treated by its status.
///
/// Source: Apple, "Handling notification responses from APNs" (apns.md §9, 2026-11).
package enum APNsReason: Sendable, Hashable {
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
    /// Printable ASCII, at most `APNsLimits.maxReasonBytes`; empty if the answer named none.
    case unknown(String)

    /// Apple's spelling of each known reason.
    private static let names: [(APNsReason, String)] = [
        (.badCollapseID, "BadCollapseId"), (.badDeviceToken, "BadDeviceToken"),
        (.badExpirationDate, "BadExpirationDate"), (.badMessageID, "BadMessageId"), (.badPriority, "BadPriority"),
        (.badTopic, "BadTopic"), (.deviceTokenNotForTopic, "DeviceTokenNotForTopic"),
        (.duplicateHeaders, "DuplicateHeaders"), (.idleTimeout, "IdleTimeout"),
        (.invalidPushType, "InvalidPushType"), (.missingDeviceToken, "MissingDeviceToken"),
        (.missingTopic, "MissingTopic"), (.payloadEmpty, "PayloadEmpty"), (.topicDisallowed, "TopicDisallowed"),
        (.badCertificate, "BadCertificate"), (.badCertificateEnvironment, "BadCertificateEnvironment"),
        (.expiredProviderToken, "ExpiredProviderToken"), (.forbidden, "Forbidden"),
        (.invalidProviderToken, "InvalidProviderToken"), (.missingProviderToken, "MissingProviderToken"),
        (.unrelatedKeyIDInToken, "UnrelatedKeyIdInToken"),
        (.badEnvironmentKeyIDInToken, "BadEnvironmentKeyIdInToken"),
        // APNSwift lists this spelling too. Behind Apple's own, so that ours is the one we write.
        (.badEnvironmentKeyIDInToken, "BadEnvironmentKeyInToken"),
        (.badPath, "BadPath"), (.methodNotAllowed, "MethodNotAllowed"), (.expiredToken, "ExpiredToken"),
        (.unregistered, "Unregistered"), (.payloadTooLarge, "PayloadTooLarge"),
        (.tooManyProviderTokenUpdates, "TooManyProviderTokenUpdates"), (.tooManyRequests, "TooManyRequests"),
        (.internalServerError, "InternalServerError"), (.serviceUnavailable, "ServiceUnavailable"),
        (.shutdown, "Shutdown"),
    ]

    private static let byName = Dictionary(names.map { ($0.1, $0.0) }) { first, _ in first }
    private static let byReason = Dictionary(names) { first, _ in first }

    /// Reads Apple's spelling; anything else becomes `unknown`, cut and cleaned, because it ends in logs and labels.
    package init(wire text: String) {
        if let known = Self.byName[text] {
            self = known
        } else {
            let bytes = text.utf8.lazy.filter { $0 > 0x20 && $0 < 0x7F }.prefix(APNsLimits.maxReasonBytes)
            self = .unknown(String(decoding: Array(bytes), as: UTF8.self))
        }
    }

    /// Apple's spelling.
    package var wireName: String {
        if case .unknown(let text) = self { text } else { Self.byReason[self] ?? "" }
    }
}
