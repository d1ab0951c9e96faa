import APNs
import ApplePayload
import DeliveryEngine
import Model
import Store

/// What a delivery's reason means and what is to be done about it: the one place where reasons become sentences.
///
/// A test holds it to every reason of ours and to every one that APNs is documented to give.
enum ReasonText {
    struct Entry: Sendable, Equatable {
        var meaning: String
        /// Whose turn it is, and what helps.
        var advice: String
    }

    /// The sentences of a reason; nil for a word that a push service has learnt since.
    static func entry(_ reason: String) -> Entry? { table[reason] }

    /// The gateway's reasons, then those of APNs (docs/contracts/apns.md#9, docs/contracts/apns.md#12), each by the delivery's reason.
    private static let table: [String: Entry] = Dictionary(
        (ours + tokens + requests + credentials + service + broadcasts).map {
            ($0.0, Entry(meaning: $0.1, advice: $0.2))
        }
    ) { first, _ in first }

    private static let ours: [(String, String, String)] = [
        (
            SuppressionReason.noDevice.rawValue,
            "Nobody answers to the address, or the device has no token that may be used.",
            "The app has to register with a token; /v1/devices shows the state of the one it has."
        ),
        (
            SuppressionReason.duplicate.rawValue, "Another target of the same message rings the same device.",
            "Nothing: a message rings a device once."
        ),
        (
            SuppressionReason.preference.rawValue, "The user has switched pushes off.",
            "Nothing, until the user switches them on again."
        ),
        (
            SuppressionReason.quietHours.rawValue, "It came in the app's quiet hours, in which nothing waits.",
            "Send it outside of them, or provision quietHours with outside: delay."
        ),
        (
            SuppressionReason.receivingWindow.rawValue,
            "It came outside of the hours in which the device may be rung, and the app lets nothing wait.",
            "Nothing: the user chose the hours. receivingWindows with outside: delay lets messages wait for them."
        ),
        (
            SuppressionReason.opensTooLate.rawValue,
            "The hours in which the device may be rung begin when the message has expired, or there are none.",
            "Give the message a longer ttlSeconds; compare the device's receivingWindow with the app's quietHours."
        ),
        (
            SuppressionReason.frequencyCap.rawValue,
            "The device was sent as many messages lately as the app's frequencyCap allows.",
            "Nothing: that is what the cap is for. Urgent and transactional messages are not capped."
        ),
        (
            FailureReason.noTransport.rawValue, "This gateway cannot reach that platform.",
            "Send to iOS devices, or run a version that has a transport for the platform."
        ),
        (
            PayloadProblem.payloadTooLarge.rawValue,
            "The content does not fit the push service's limit in that dialect.",
            "Shorten the text or the data; ?preview=true shows the size per dialect."
        ),
        (
            PayloadProblem.payloadInvalid.rawValue, "The SDK on the device cannot show such content.",
            "See ?preview=true for what that dialect refuses."
        ),
        (
            PayloadProblem.noAdapter.rawValue, "The identity speaks a dialect that this gateway does not have.",
            "Run a version with that vendor's adapter, or move the device to another dialect."
        ),
        (
            PayloadProblem.withheld.rawValue,
            "The message is not for this user: its audience does not mean the user, or its template says so (abort_message).",
            "Nothing: its sender wants it so."
        ),
        (
            "InvalidPayload", "The payload would have been dropped by the device, so it was not sent.",
            "Mend the raw payload; ?preview=true names the field."
        ),
    ]

    private static let tokens: [(String, String, String)] = [
        (
            "BadDeviceToken", "APNs does not know the token: it is malformed or of the other environment.",
            "The token is set aside until the app registers again; check that sandbox builds register as sandbox."
        ),
        (
            "DeviceTokenNotForTopic", "The token belongs to another app than the topic names.",
            "Check the app's topic (bundle id) in the provisioning file; the token is set aside until it registers again."
        ),
        (
            "Unregistered", "The app was removed from the device, or no longer takes pushes.",
            "Nothing: the token is dead. It works again when the app registers."
        ),
        (
            "ExpiredToken", "The device token has expired.",
            "Nothing: the app gets a new one and registers it when it runs."
        ),
        (
            "MissingDeviceToken", "The request named no device token.",
            "A fault of the gateway: report it with the apns-id."
        ),
    ]

    private static let requests: [(String, String, String)] = [
        ("BadCollapseId", "The collapse id is longer than 64 bytes.", "Use a shorter collapseId."),
        ("BadExpirationDate", "The expiration is no time.", "A fault of the gateway: report it with the apns-id."),
        ("BadMessageId", "The apns-id is no UUID.", "A fault of the gateway: report it with the apns-id."),
        (
            "BadPriority", "The priority is none of 1, 5 and 10, or 10 for a background push.",
            "Do not mix silent with visible content."
        ),
        ("DuplicateHeaders", "A header came twice.", "A fault of the gateway: report it with the apns-id."),
        (
            "InvalidPushType", "The push type is unknown or does not fit the payload.",
            "Check a raw payload: an alert needs something to show, a background push must have nothing."
        ),
        ("PayloadEmpty", "The request had no payload.", "A fault of the gateway: report it with the apns-id."),
        (
            "PayloadTooLarge",
            "The payload is above APNs' limit of \(AppleLimits.payloadBytes) bytes (\(AppleLimits.voipPayloadBytes) for VoIP).",
            "Shorten the text or the data; ?preview=true shows the size."
        ),
        ("BadPath", "The request's path was wrong.", "A fault of the gateway: report it with the apns-id."),
        ("MethodNotAllowed", "The request was no POST.", "A fault of the gateway: report it with the apns-id."),
    ]

    private static let credentials: [(String, String, String)] = [
        (
            "BadTopic", "The topic is malformed.",
            "Mend the app's topic in the provisioning file and apply; what waits is sent then."
        ),
        ("MissingTopic", "The request named no topic.", "Give the app a topic in the provisioning file and apply."),
        (
            "TopicDisallowed", "The credential may not push to that topic.",
            "Use a key of the app's own team, or one whose topics include it, and apply."
        ),
        ("BadCertificate", "APNs refuses the certificate.", "Provision a valid one and apply; doctor shows the dates."),
        (
            "BadCertificateEnvironment", "The certificate is of the other environment.",
            "Name it under the right one of production and sandbox, and apply."
        ),
        (
            "ExpiredProviderToken", "The provider token was older than an hour.",
            "The gateway renews it by itself; if it stays, compare the database server's clock with the time."
        ),
        ("Forbidden", "APNs does not allow it: the key may be revoked.", "Provision a key that is valid and apply."),
        (
            "InvalidProviderToken",
            "APNs cannot verify the provider token: key, key id or team id do not belong together.",
            "Check teamId, keyId and the .p8 file of the credential, and apply; what waits is sent then."
        ),
        (
            "MissingProviderToken", "The request had neither certificate nor provider token.",
            "Check the credential's kind and apply."
        ),
        (
            "UnrelatedKeyIdInToken", "The key does not fit the connection's other keys.",
            "The gateway opens another connection by itself; if it stays, check the key's topics."
        ),
        (
            "BadEnvironmentKeyIdInToken", "The key is of the other environment.",
            "Name it under the right one of production and sandbox, and apply."
        ),
        (
            "TooManyProviderTokenUpdates", "The provider token changed too often.",
            "Wait: the gateway keeps the one it has. Check that nobody else signs with the same key on this connection."
        ),
        (
            "TopicMismatch", "The credential is not of the channel's app.", "Use a credential of that app and apply."
        ),
        (
            "FeatureNotEnabled", "Broadcasts are not switched on for the app.",
            "Switch the capability on in the developer account."
        ),
    ]

    private static let service: [(String, String, String)] = [
        (
            "IdleTimeout", "APNs closed the connection, because it was idle.",
            "Nothing: the gateway connects and sends again."
        ),
        (
            "TooManyRequests", "Too many pushes went to this one device.",
            "Send less often to it, or collapse; the gateway waits and tries again until the message expires."
        ),
        ("InternalServerError", "APNs had a fault.", "Nothing: the gateway tries again until the message expires."),
        ("ServiceUnavailable", "APNs is overloaded.", "Nothing: the gateway tries again until the message expires."),
        ("Shutdown", "That server of APNs is going down.", "Nothing: the gateway connects elsewhere and sends again."),
    ]

    private static let broadcasts: [(String, String, String)] = [
        ("MissingChannelId", "The broadcast named no channel.", "Name the channel."),
        (
            "BadChannelId", "There is no such channel in that environment.",
            "Make the channel anew, or check the environment."
        ),
        ("ChannelNotRegistered", "The channel does not exist any more.", "Make the channel anew."),
        (
            "BadRequestParams", "A parameter of the call is wrong.",
            "A fault of the gateway: report it with the request id."
        ),
        (
            "BadRequestPayload", "The body of the call is wrong.",
            "A fault of the gateway: report it with the request id."
        ),
        (
            "MissingPushType", "The broadcast named no push type.",
            "A fault of the gateway: report it with the request id."
        ),
        (
            "CannotCreateChannelConfig", "The app has as many channels as it may have.",
            "Delete channels that are not used."
        ),
        ("MissingChannelQueueSize", "The channel's storage policy is missing.", "Name the storage policy."),
    ]

    /// Where a delivery stands, in a sentence.
    static func standing(_ facts: DeliveryFacts, queue: QueueWords?) -> String {
        switch facts.snapshot.state {
        case .queued: queue?.sentence ?? "It is in no queue any more, and its outcome is not written yet."
        case .sent where !facts.isCertain:
            "It was sent, and the answer was lost: the push service may or may not have taken it."
        case .sent: "The push service has accepted it; the device has not reported it."
        case .received: "The device has reported it."
        case .read: "The user has opened it."
        case .failed: "It was not delivered, and is not tried again."
        case .suppressed: "It was not sent."
        case .expired: "Its time was over before it could be sent."
        case .canceled: "The message was canceled before it was sent."
        }
    }

    /// What a queue's row says.
    struct QueueWords {
        var isLeased: Bool
        var isPaused: Bool
        var isReserved: Bool
        var attempts: Int
        /// The credential it waits for, with the peer's word where it was refused.
        var holder: (id: String, refusal: String?)?
        /// Why its slice gave up.
        var deadReason: String?
        /// What keeps the target until a time of day, as a sentence about it.
        var hours: String?
        /// RFC 3339.
        var nextTry: String

        fileprivate var sentence: String {
            if let hours, !isLeased, !isPaused, deadReason == nil { return hours }
            if isReserved { return "It is reserved for \(nextTry)." }
            if let deadReason {
                return "It was tried too often (\(deadReason)) and rests until the message is requeued, or expires."
            }
            if isPaused { return "It waits: the message or its lane is paused." }
            if let holder {
                let why = holder.refusal.map { ", which was refused with \($0)" } ?? ""
                return
                    "It waits for the credential \(holder.id)\(why); tried again at \(nextTry), or when it is applied anew."
            }
            if isLeased { return "A node is sending it; if that node dies, another takes over at \(nextTry)." }
            let past = attempts > 0 ? ", after \(attempts) put-backs" : ""
            return "It is queued; its next try is at \(nextTry)\(past)."
        }
    }
}
