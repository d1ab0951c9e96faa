package import Model

/// What in a push would be refused, found before it is sent: the field, and the rule that it breaks.
///
/// Safe to show: it holds no token and no content, only names of fields (a caller's own key beside `aps` included).
package struct PushFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The rule that is broken.
    package enum Rule: Sendable, Hashable {
        /// It must be there.
        case missing
        /// It must not be there, for the reason given.
        case notAllowed(String)
        /// It is longer than this. Unit: bytes of UTF-8.
        case tooLong(limit: Int)
        /// It is outside of these values.
        case outOfRange(String)
        /// It is not what it has to be.
        case malformed(String)
    }

    /// What APNs is documented to answer, in Apple's spelling.
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
    /// Which rule it breaks.
    package let rule: Rule
    /// What APNs is documented to answer; nil where it would take the push and the device would drop it.
    package let reason: Reason?

    package init(_ field: String, _ rule: Rule, _ reason: Reason? = nil) {
        self.field = field
        self.rule = rule
        self.reason = reason
    }

    /// The refusal as an outcome has it: status 0, because Apple was not asked.
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
