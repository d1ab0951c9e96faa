/// The meaning of one reason: a row of the outcome table.
///
/// Source: Apple, "Handling notification responses from APNs" (docs/contracts/apns.md#9) and "Handling error responses from Apple Push
/// Notification service" for broadcasts (docs/contracts/apns.md#12), 2026-11.
package struct ReasonRule: Sendable, Equatable {
    /// The subject of the refusal.
    package enum Subject: Sendable, Equatable {
        /// The request: it will never be accepted unchanged.
        case request
        /// The device token is dead, unless the app registered it again after the answer's timestamp (docs/contracts/apns.md#9.1).
        case deadToken
        /// The device token is of another environment or app; the same reasons are given for good tokens if our host or topic is wrong.
        case doubtfulToken
        /// The channel is gone or of another environment.
        case channel
        /// The key or certificate: every request with it would fail.
        case credential
        /// The topic: every request with it through this credential would fail.
        case topic
        /// The service, or the rate of pushes to one device.
        case service
    }

    /// Whether the same request may succeed later. The action to take at once is the remedy.
    package enum Retry: Sendable, Equatable {
        /// Never unchanged.
        case never
        /// Once someone has corrected the credential or the topic.
        case whenMended
        /// After a delay: 15 minutes or more for 5xx, a backoff for 429 (docs/contracts/apns.md#9.2). The policy is that of the sender's queue.
        case later
    }

    package let reason: APNsReason
    /// Apple's spelling.
    package let name: String
    /// The status of the answer with this reason.
    package let status: Int
    package let subject: Subject
    package let retry: Retry
    /// The action that the connection or the provider token needs, and whether the push is repeated at once.
    package let remedy: APNsAnswer.Remedy

    private init(
        _ status: Int,
        _ name: String,
        _ reason: APNsReason,
        _ subject: Subject = .request,
        _ retry: Retry = .never,
        _ remedy: APNsAnswer.Remedy = .none
    ) {
        self.reason = reason
        self.name = name
        self.status = status
        self.subject = subject
        self.retry = retry
        self.remedy = remedy
    }

    /// Every documented or observed reason, once.
    package static let table = pushes + broadcasts

    /// docs/contracts/apns.md#9.
    private static let pushes = [
        ReasonRule(400, "BadCollapseId", .badCollapseID),
        // The token is quarantined, not deleted: see `Subject.doubtfulToken`.
        ReasonRule(400, "BadDeviceToken", .badDeviceToken, .doubtfulToken),
        ReasonRule(400, "BadExpirationDate", .badExpirationDate),
        ReasonRule(400, "BadMessageId", .badMessageID),
        ReasonRule(400, "BadPriority", .badPriority),
        ReasonRule(400, "BadTopic", .badTopic, .topic, .whenMended),
        ReasonRule(400, "DeviceTokenNotForTopic", .deviceTokenNotForTopic, .doubtfulToken),
        ReasonRule(400, "DuplicateHeaders", .duplicateHeaders),
        ReasonRule(400, "IdleTimeout", .idleTimeout, .service, .later, .reconnectAndResend),
        ReasonRule(400, "InvalidPushType", .invalidPushType),
        ReasonRule(400, "MissingDeviceToken", .missingDeviceToken),
        ReasonRule(400, "MissingTopic", .missingTopic, .topic, .whenMended),
        ReasonRule(400, "PayloadEmpty", .payloadEmpty),
        ReasonRule(400, "TopicDisallowed", .topicDisallowed, .topic, .whenMended),
        ReasonRule(403, "BadCertificate", .badCertificate, .credential, .whenMended),
        ReasonRule(403, "BadCertificateEnvironment", .badCertificateEnvironment, .credential, .whenMended),
        // A connection that saw an expired token never recovers (docs/contracts/apns.md#14).
        ReasonRule(403, "ExpiredProviderToken", .expiredProviderToken, .credential, .later, .renewTokenAndResend),
        ReasonRule(403, "Forbidden", .forbidden, .credential, .whenMended),
        ReasonRule(403, "InvalidProviderToken", .invalidProviderToken, .credential, .whenMended),
        ReasonRule(403, "MissingProviderToken", .missingProviderToken, .credential, .whenMended),
        // The connection is tied to another key (docs/contracts/apns.md#3); if a new connection is refused as well, the key is wrong.
        ReasonRule(403, "UnrelatedKeyIdInToken", .unrelatedKeyIDInToken, .credential, .whenMended, .reconnectAndResend),
        ReasonRule(403, "BadEnvironmentKeyIdInToken", .badEnvironmentKeyIDInToken, .credential, .whenMended),
        ReasonRule(404, "BadPath", .badPath),
        ReasonRule(405, "MethodNotAllowed", .methodNotAllowed),
        ReasonRule(410, "ExpiredToken", .expiredToken, .deadToken),
        ReasonRule(410, "Unregistered", .unregistered, .deadToken),
        ReasonRule(413, "PayloadTooLarge", .payloadTooLarge),
        // Never fetch a new token, because too many new tokens are the problem. Use a new connection with the current one.
        ReasonRule(
            429,
            "TooManyProviderTokenUpdates",
            .tooManyProviderTokenUpdates,
            .credential,
            .later,
            .reconnectAndResend
        ),
        ReasonRule(429, "TooManyRequests", .tooManyRequests, .service, .later),
        // Others observed that the connection can stay bad after one (docs/contracts/apns.md#14); it is retired after two in a row.
        ReasonRule(500, "InternalServerError", .internalServerError, .service, .later, .suspect),
        ReasonRule(503, "ServiceUnavailable", .serviceUnavailable, .service, .later),
        ReasonRule(503, "Shutdown", .shutdown, .service, .later, .retire),
    ]

    /// docs/contracts/apns.md#12, without the reasons that pushes have as well.
    private static let broadcasts = [
        ReasonRule(400, "FeatureNotEnabled", .featureNotEnabled, .credential, .whenMended),
        ReasonRule(400, "MissingChannelId", .missingChannelID),
        ReasonRule(400, "BadChannelId", .badChannelID, .channel),
        ReasonRule(400, "ChannelNotRegistered", .channelNotRegistered, .channel),
        ReasonRule(400, "BadRequestParams", .badRequestParams),
        ReasonRule(400, "BadRequestPayload", .badRequestPayload),
        ReasonRule(400, "MissingPushType", .missingPushType),
        // The limit of channels is reached: some must be deleted first.
        ReasonRule(400, "CannotCreateChannelConfig", .cannotCreateChannelConfig, .request, .whenMended),
        // Not in Apple's list; observed if the storage policy is missing (docs/contracts/apns.md#12).
        ReasonRule(400, "MissingChannelQueueSize", .missingChannelQueueSize),
        ReasonRule(403, "TopicMismatch", .topicMismatch, .credential, .whenMended),
    ]
}
