import APNs
import ApplePayload
import DeliveryEngine
import Model
package import Store

/// Explains the reasons of deliveries and the recommended actions. All sentences about reasons are in this file.
///
/// A test checks that it covers every reason of the gateway and every documented reason of APNs.
package enum ReasonText {
    package struct Entry: Sendable, Equatable {
        package var meaning: String
        /// The party that should act, and how.
        package var advice: String
    }

    /// The sentences of a reason; nil for a reason that is not in this table, such as a new one of a push service.
    package static func entry(_ reason: String) -> Entry? { table[reason] }

    /// The gateway's reasons, then those of APNs (docs/contracts/apns.md#9, docs/contracts/apns.md#12), each by the delivery's reason.
    private static let table: [String: Entry] = Dictionary(
        (ours + tokens + requests + credentials + service + broadcasts).map {
            ($0.0, Entry(meaning: $0.1, advice: $0.2))
        }
    ) { first, _ in first }

    private static let ours: [(String, String, String)] = [
        (
            SuppressionReason.noDevice.rawValue,
            "No active identity has this address, or the device has no usable token.",
            "The app has to register with a token; /v1/devices shows the state of its present token."
        ),
        (
            SuppressionReason.duplicate.rawValue, "Another target of the same message notifies the same device.",
            "Nothing: a message notifies each device once."
        ),
        (
            SuppressionReason.assurance.rawValue,
            "The user of the identity is not confirmed as well as the message needs, or less well than on another identity of the same user.",
            "Confirm it with POST /v1/identities/{identity}/vouch; minAssurance and mixedAssurance of the app change the rule."
        ),
        (
            SuppressionReason.routed.rawValue, "A delivery rule of the app sends nothing to it (paths: [none]).",
            "Change the rule: push-gateway routes show, docs/routing.md#rules."
        ),
        (
            SuppressionReason.sameUser.rawValue,
            "The upstream pushes to all devices of the user, and another target of the message stands for this one.",
            "Nothing: the upstream gets one call for each user of a message."
        ),
        (
            SuppressionReason.crossVendorDuplicate.rawValue,
            "The device was sent a message with the same text shortly before, through another dialect or by the vendor.",
            "Nothing: duplicateGuard of the app is for this. Send the message through one of the two only, or shorten the window (docs/routing.md#cross-vendor-duplicates)."
        ),
        (
            FailureReason.interrupted.rawValue,
            "The node that called the upstream ended before it had recorded the answer. The upstream may have pushed the message.",
            "Nothing: the call is not repeated, because no vendor recognizes a repeated message."
        ),
        (
            SuppressionReason.preference.rawValue, "The user has switched pushes off.",
            "Nothing, until the user switches them on again."
        ),
        (
            SuppressionReason.quietHours.rawValue,
            "It was due during the app's quiet hours, and the app suppresses such messages.",
            "Send it outside the quiet hours, or provision quietHours with outside: delay."
        ),
        (
            SuppressionReason.receivingWindow.rawValue,
            "It was due outside the device's receiving hours, and the app suppresses such messages.",
            "Nothing: the user chose the hours. receivingWindows with outside: delay lets messages wait for them."
        ),
        (
            SuppressionReason.opensTooLate.rawValue,
            "The hours in which the device may be notified begin after the message expires, or never.",
            "Give the message a longer ttlSeconds; compare the device's receivingWindow with the app's quietHours."
        ),
        (
            SuppressionReason.frequencyCap.rawValue,
            "The device has recently received as many messages as the app's frequencyCap allows.",
            "Nothing: this is the purpose of the cap. Urgent and transactional messages are not capped."
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
            PayloadProblem.payloadInvalid.rawValue, "The SDK on the device cannot show this content.",
            "Send with ?preview=true to see what the dialect refuses."
        ),
        (
            PayloadProblem.noAdapter.rawValue, "The identity uses a dialect that this gateway does not support.",
            "Run a version with that vendor's adapter, or move the device to another dialect."
        ),
        (
            PayloadProblem.withheld.rawValue,
            "The audience excludes the user, the template aborted the message (abort_message), or the SDK does not show its push type.",
            "Nothing: the sender intends this."
        ),
        (
            "InvalidPayload", "The device would drop the payload, so it was not sent.",
            "Fix the raw payload; ?preview=true names the field."
        ),
    ]

    private static let tokens: [(String, String, String)] = [
        (
            "BadDeviceToken", "APNs does not know the token: it is malformed or belongs to the other environment.",
            "The token is not used until the app registers again; check that sandbox builds register as sandbox."
        ),
        (
            "DeviceTokenNotForTopic", "The token belongs to an app other than that of the topic.",
            "Check the app's topic (bundle id) in the provisioning file; the token is not used until the app registers again."
        ),
        (
            "Unregistered", "The app was removed from the device, or no longer accepts pushes.",
            "Nothing: the token is invalid. It becomes valid when the app registers again."
        ),
        (
            "ExpiredToken", "The device token has expired.",
            "Nothing: the app receives a new token and registers it when it runs."
        ),
        (
            "MissingDeviceToken", "The request named no device token.",
            "This is a gateway bug: report it with the apns-id."
        ),
    ]

    private static let requests: [(String, String, String)] = [
        ("BadCollapseId", "The collapse id is longer than 64 bytes.", "Use a shorter collapseId."),
        ("BadExpirationDate", "The expiration is not a time.", "This is a gateway bug: report it with the apns-id."),
        ("BadMessageId", "The apns-id is not a UUID.", "This is a gateway bug: report it with the apns-id."),
        (
            "BadPriority", "The priority is not 1, 5 or 10, or it is 10 for a background push.",
            "Do not mix silent with visible content."
        ),
        ("DuplicateHeaders", "A header occurred twice.", "This is a gateway bug: report it with the apns-id."),
        (
            "InvalidPushType", "The push type is unknown or does not fit the payload.",
            "Check a raw payload: an alert needs visible content, a background push must not have any."
        ),
        ("PayloadEmpty", "The request had no payload.", "This is a gateway bug: report it with the apns-id."),
        (
            "PayloadTooLarge",
            "The payload is above APNs' limit of \(AppleLimits.payloadBytes) bytes (\(AppleLimits.voipPayloadBytes) for VoIP).",
            "Shorten the text or the data; ?preview=true shows the size."
        ),
        ("BadPath", "The request's path was wrong.", "This is a gateway bug: report it with the apns-id."),
        ("MethodNotAllowed", "The request was not a POST.", "This is a gateway bug: report it with the apns-id."),
    ]

    private static let credentials: [(String, String, String)] = [
        (
            "BadTopic", "The topic is malformed.",
            "Fix the app's topic in the provisioning file and apply it; waiting messages are then sent."
        ),
        ("MissingTopic", "The request named no topic.", "Give the app a topic in the provisioning file and apply it."),
        (
            "TopicDisallowed", "The credential may not push to that topic.",
            "Use a key of the app's own team, or one whose topics include it, and apply the file."
        ),
        (
            "BadCertificate", "APNs refuses the certificate.",
            "Provision a valid certificate and apply the file; doctor shows the dates."
        ),
        (
            "BadCertificateEnvironment", "The certificate belongs to the other environment.",
            "In the app's platforms, enter it under its own environment (production or sandbox), and apply the file."
        ),
        (
            "ExpiredProviderToken", "The provider token was older than an hour.",
            "The gateway renews it automatically; if the error persists, check that the database server's clock is correct."
        ),
        (
            "Forbidden", "APNs does not allow the request: the key may have been revoked.",
            "Provision a valid key and apply the file."
        ),
        (
            "InvalidProviderToken",
            "APNs cannot verify the provider token: key, key id and team id do not match.",
            "Check teamId, keyId and the .p8 file of the credential, and apply the file; waiting messages are then sent."
        ),
        (
            "MissingProviderToken", "The request had neither a certificate nor a provider token.",
            "Check the credential's kind and apply the file."
        ),
        (
            "UnrelatedKeyIdInToken", "The key does not match the other keys of the connection.",
            "The gateway opens another connection automatically; if the error persists, check the key's topics."
        ),
        (
            "BadEnvironmentKeyIdInToken", "The key belongs to the other environment.",
            "In the app's platforms, enter it under its own environment (production or sandbox), and apply the file."
        ),
        (
            "TooManyProviderTokenUpdates", "The provider token changed too often.",
            "Wait: the gateway keeps its present token. Check that no other program signs provider tokens with the same key."
        ),
        (
            "TopicMismatch", "The credential does not belong to the channel's app.",
            "Use a credential of that app and apply the file."
        ),
        (
            "FeatureNotEnabled", "Broadcasts are not enabled for the app.",
            "Enable the capability in the developer account."
        ),
    ]

    private static let service: [(String, String, String)] = [
        (
            "IdleTimeout", "APNs closed the connection because it was idle.",
            "Nothing: the gateway connects and sends again."
        ),
        (
            "TooManyRequests", "Too many pushes were sent to this device.",
            "Send to it less often, or use a collapseId; the gateway waits and tries again until the message expires."
        ),
        (
            "InternalServerError", "APNs had an internal error.",
            "Nothing: the gateway tries again until the message expires."
        ),
        ("ServiceUnavailable", "APNs is overloaded.", "Nothing: the gateway tries again until the message expires."),
        (
            "Shutdown", "That APNs server is shutting down.",
            "Nothing: the gateway connects to another server and sends again."
        ),
    ]

    private static let broadcasts: [(String, String, String)] = [
        ("MissingChannelId", "The broadcast named no channel.", "Name the channel."),
        (
            "BadChannelId", "The channel does not exist in that environment.",
            "Create the channel again, or check the environment."
        ),
        ("ChannelNotRegistered", "The channel was deleted.", "Create the channel again."),
        (
            "BadRequestParams", "A parameter of the call is wrong.",
            "This is a gateway bug: report it with the request id."
        ),
        (
            "BadRequestPayload", "The body of the call is wrong.",
            "This is a gateway bug: report it with the request id."
        ),
        (
            "MissingPushType", "The broadcast named no push type.",
            "This is a gateway bug: report it with the request id."
        ),
        (
            "CannotCreateChannelConfig", "The app has the maximum number of channels.",
            "Delete unused channels."
        ),
        ("MissingChannelQueueSize", "The channel's storage policy is missing.", "Name the storage policy."),
    ]

    /// The state of a delivery, as a sentence.
    package static func standing(_ facts: DeliveryFacts, queue: QueueWords?) -> String {
        switch facts.snapshot.state {
        case .queued: queue?.sentence ?? "It has left the queue, and its outcome is not written yet."
        case .sent where !facts.isCertain:
            "It was sent, but the answer was lost: the push service may or may not have accepted it."
        case .sent: "The push service has accepted it; the device has not reported its receipt."
        case .received: "The device has reported its receipt."
        case .read: "The user has opened it."
        case .failed: "It was not delivered, and will not be tried again."
        case .suppressed: "It was not sent."
        case .expired: "It expired before it could be sent."
        case .canceled: "The message was canceled before it was sent."
        }
    }

    /// The facts of a queued delivery that its sentence needs.
    package struct QueueWords {
        package var isLeased: Bool
        package var isPaused: Bool
        package var isReserved: Bool
        package var attempts: Int
        /// The credential it waits for, with the push service's reason if it was refused.
        package var holder: (id: String, refusal: String?)?
        /// The reason why its slice gave up.
        package var deadReason: String?
        /// A sentence about the hours for which the target waits.
        package var hours: String?
        /// The time of the next try, in RFC 3339 format.
        package var nextTry: String

        package init(
            isLeased: Bool,
            isPaused: Bool,
            isReserved: Bool,
            attempts: Int,
            holder: (id: String, refusal: String?)?,
            deadReason: String?,
            hours: String?,
            nextTry: String
        ) {
            self.isLeased = isLeased
            self.isPaused = isPaused
            self.isReserved = isReserved
            self.attempts = attempts
            self.holder = holder
            self.deadReason = deadReason
            self.hours = hours
            self.nextTry = nextTry
        }

        fileprivate var sentence: String {
            if let hours, !isLeased, !isPaused, deadReason == nil { return hours }
            if isReserved { return "It is reserved for \(nextTry)." }
            if let deadReason {
                return "It was tried too often (\(deadReason)) and waits until the message is requeued or expires."
            }
            if isPaused { return "It waits: the message or its lane is paused." }
            if let holder {
                let why = holder.refusal.map { ", which was refused with \($0)" } ?? ""
                return
                    "It waits for the credential \(holder.id)\(why); the next try is at \(nextTry), or when the credential is applied again."
            }
            if isLeased { return "A node is sending it; if that node dies, another takes over at \(nextTry)." }
            let past = attempts > 0 ? "; tries so far: \(attempts)" : ""
            return "It is queued; its next try is at \(nextTry)\(past)."
        }
    }
}
