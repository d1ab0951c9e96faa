import FoundationEssentials
import Model

/// An event in Currents format (docs/contracts/braze.md#7, docs/contracts/braze.md#8), for messages and devices of all vendors.
///
/// Assumed: the name stands in `event_type` beside the fields; `id` is the event's place in the tenant's log; `user_id` is the app's own id; the values
/// of `push_token_state_change_type`, `abort_type` and `subscription_status`. Not told: `push_token`, which the gateway shows nobody, and what it does not know.
struct CurrentsEvent {
    private static let pushes = "users.messages.pushnotification."
    private static let behaviors = "users.behaviors."
    /// Reasons that make a token bounce (docs/contracts/braze.md#7); other failures are aborts.
    private static let bounces: Set<String> = [
        "Unregistered", "BadDeviceToken", "DeviceTokenNotForTopic", "ExpiredToken",
    ]

    /// What of a message's data is told.
    static let messageData = [BrazePayload.campaignKey, BrazePayload.variationKey, BrazePayload.sendKey]

    private let event: EventRecord
    private let facts: EventFacts

    init(_ event: EventRecord, _ facts: EventFacts) {
        self.event = event
        self.facts = facts
    }

    var all: [JSON] {
        guard let kind = EventKind(rawValue: event.kind) else { return [] }
        switch kind {
        case .sent: return [push("Send")]
        case .read: return [push("Open")]
        case .failed:
            let reason = event.reason ?? ""
            return [Self.bounces.contains(reason) ? push("Bounce") : aborted("delivery_failure", reason)]
        case .expired: return [aborted("expired", "not sent in time")]
        case .canceled: return [aborted("canceled", "the message was canceled")]
        // Without a device there is no token: a user whose app never said it.
        case .registered: return event.subject.device == nil ? [] : [token("add")]
        case .replaced, .unregistered: return [token("remove")]
        case .tokenQuarantined: return [token("invalidate")]
        case .tokenInvalidated: return [token("invalidate"), told(Self.behaviors + "Uninstall", [:], part: 1)]
        case .preferenceChanged: return preference.map { [$0] } ?? []
        // Of the message as a whole, or nothing of theirs: what was not tried, and what merely arrived.
        case .accepted, .messageCanceled, .messagePaused, .messageResumed, .messageRequeued, .suppressed, .received:
            return []
        }
    }

    // MARK: Events

    private func push(_ name: String, _ more: JSONObject = [:]) -> JSON { told(Self.pushes + name, more) }

    private func aborted(_ type: String, _ log: String) -> JSON {
        push(
            "Abort",
            ["abort_type": .string(type), "abort_log": .string(String(log.prefix(BrazeLimits.abortCharacters)))]
        )
    }

    private func token(_ change: String) -> JSON {
        var more: JSONObject = [
            "time_ms": .int(event.at.milliseconds), "push_token_state_change_type": .string(change),
        ]
        if device?.platform == .ios {
            more["ios_push_token_apns_gateway"] = device?.environment.map { $0 == .production ? 2 : 1 }
        }
        more["push_token_device_id"] = identity?.key.map { .string($0.rawValue) }
        return told(Self.behaviors + "pushnotification.TokenStateChange", more)
    }

    private var preference: JSON? {
        guard let accepts = event.data?["acceptsPush"]?.bool else { return nil }
        return told(
            Self.behaviors + "subscription.GlobalStateChange",
            ["subscription_status": accepts ? "subscribed" : "unsubscribed", "channel": "push"]
        )
    }

    // MARK: Fields

    private var identity: EventFacts.Identity? { facts.identity(of: event) }
    private var device: EventFacts.Identity? { facts.device(of: event) }
    /// A delivery says whose it was: another person may use the device by now.
    private var user: UserID? { event.subject.message == nil ? identity?.user : event.subject.user }

    /// `part`: of several things that one event tells.
    private func told(_ name: String, _ more: JSONObject, part: Int = 0) -> JSON {
        var object: JSONObject = ["event_type": .string(name)]
        object["id"] = .string(part == 0 ? "\(event.offset)" : "\(event.offset)-\(part)")
        object["time"] = .int(event.at.seconds)
        object["app_id"] = .string(event.app.rawValue)
        if let user {
            object["user_id"] = .string(user.rawValue)
            // Who is known by aliases only has none.
            if !SDKData.isUnnamed(user) { object["external_user_id"] = .string(user.rawValue) }
        }
        object["device_id"] = identity?.key.map { .string($0.rawValue) }
        object["platform"] = device?.platform.map { .string($0.rawValue) }
        object["timezone"] = device?.timeZone.map { .string($0.text) }
        if let message = event.subject.message {
            object["dispatch_id"] = .string(HexCoding.encode(message.rawValue.bytes))
        }
        if let message = facts.message(of: event), message.origin == .braze {
            let campaign = message.data[BrazePayload.campaignKey]
            object["campaign_id"] = campaign?["api_id"]
            object["campaign_name"] = campaign?["name"]
            object["message_variation_id"] = message.data[BrazePayload.variationKey]
            object["send_id"] = message.data[BrazePayload.sendKey]
        }
        for (name, value) in more.pairs { object[name] = value }
        return .object(object)
    }
}
