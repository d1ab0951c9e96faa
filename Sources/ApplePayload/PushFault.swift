package import Model

/// A part of a push that would be refused, found before it is sent: the field, and the rule that it breaks.
///
/// It may be shown to anyone: it contains no token and no content, only names of fields (including a caller's own key next to `aps`).
package struct PushFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The broken rule.
    package enum Rule: Sendable, Hashable {
        /// The field must be present.
        case missing
        /// The field must not be present, for the given reason.
        case notAllowed(String)
        /// The field is longer than this. Unit: bytes of UTF-8.
        case tooLong(limit: Int)
        /// The field is outside of these values.
        case outOfRange(String)
        /// The field does not have this form.
        case malformed(String)
    }

    /// The reason that APNs is documented to answer, in Apple's spelling.
    package enum Reason: String, Sendable, Hashable {
        case badCollapseID = "BadCollapseId"
        case badDeviceToken = "BadDeviceToken"
        case badExpirationDate = "BadExpirationDate"
        case badPath = "BadPath"
        case badPriority = "BadPriority"
        case badTopic = "BadTopic"
        case invalidPushType = "InvalidPushType"
        case missingTopic = "MissingTopic"
        case payloadEmpty = "PayloadEmpty"
        case payloadTooLarge = "PayloadTooLarge"
    }

    /// The field in Apple's own spelling: `apns-topic`, `aps.alert.loc-key`, `payload`.
    package let field: String
    /// The rule that it breaks.
    package let rule: Rule
    /// The reason that APNs is documented to answer; nil if it would accept the push and the device would discard it.
    package let reason: Reason?

    package init(_ field: String, _ rule: Rule, _ reason: Reason? = nil) {
        self.field = field
        self.rule = rule
        self.reason = reason
    }

    /// The refusal as part of an outcome; the status is 0, because the push was not sent to Apple.
    package var rejection: Rejection {
        let scope: Rejection.Scope = reason == .badDeviceToken ? .tokenDoubtful : .content
        return Rejection(scope: scope, reason: reason?.rawValue ?? "InvalidPayload", status: 0)
    }

    package var description: String {
        switch rule {
        case .missing: "\(field) is missing"
        case .notAllowed(let why): "\(field) is not allowed \(why)"
        case .tooLong(let limit): "\(field) is longer than \(limit) bytes"
        case .outOfRange(let range): "\(field) must be \(range)"
        case .malformed(let what): "\(field) must be \(what)"
        }
    }
}
