import FoundationEssentials
import Model

/// An event in Currents format (docs/contracts/braze.md#7, docs/contracts/braze.md#8), for messages and devices of all vendors.
///
/// Assumed: the name is in `event_type`, next to the other fields; `id` is the event's position in the tenant's log; `user_id` is the app's own id; the
/// values of `push_token_state_change_type`, `abort_type` and `subscription_status`. Omitted: `push_token`, which the gateway never discloses, and
/// fields that the gateway does not have.
struct CurrentsEvent {
    private static let pushes = "users.messages.pushnotification."
    private static let behaviors = "users.behaviors."
    /// Reasons that count as a bounce of the token (docs/contracts/braze.md#7); other failures are aborts.
    private static let bounces: Set<String> = [
        "Unregistered", "BadDeviceToken", "DeviceTokenNotForTopic", "ExpiredToken",
    ]

    /// The keys of a message's data that events contain.
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
        // A registration without a device has no token: the user's app never reported one.
        case .registered: return event.subject.device == nil ? [] : [token("add")]
        case .replaced, .unregistered: return [token("remove")]
        case .tokenQuarantined: return [token("invalidate")]
        case .tokenInvalidated: return [token("invalidate"), object(Self.behaviors + "Uninstall", [:], part: 1)]
        case .preferenceChanged: return preference.map { [$0] } ?? []
        // No event of this format: events of a message as a whole or of the app, suppressed deliveries, received pushes, moves and confirmations of users.
        case .moved, .vouched, .possession, .accepted, .messageCanceled, .messagePaused, .messageResumed,
            .messageRequeued, .approvalNeeded, .messageApproved, .suppressed,
            .received, .routesChanged, .migrationChanged:
            return []
        }
    }

    // MARK: Events

    private func push(_ name: String, _ more: JSONObject = [:]) -> JSON { object(Self.pushes + name, more) }

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
        return object(Self.behaviors + "pushnotification.TokenStateChange", more)
    }

    private var preference: JSON? {
        guard let accepts = event.data?["acceptsPush"]?.bool else { return nil }
        return object(
            Self.behaviors + "subscription.GlobalStateChange",
            ["subscription_status": accepts ? "subscribed" : "unsubscribed", "channel": "push"]
        )
    }

    // MARK: Fields

    private var identity: EventFacts.Identity? { facts.identity(of: event) }
    private var device: EventFacts.Identity? { facts.device(of: event) }
    /// For a delivery the event's own user is used, because another person may use the device by now.
    private var user: UserID? { event.subject.message == nil ? identity?.user : event.subject.user }

    /// The event object. `part` numbers the objects of one event.
    private func object(_ name: String, _ more: JSONObject, part: Int = 0) -> JSON {
        var object: JSONObject = ["event_type": .string(name)]
        object["id"] = .string(part == 0 ? "\(event.offset)" : "\(event.offset)-\(part)")
        object["time"] = .int(event.at.seconds)
        object["app_id"] = .string(event.app.rawValue)
        if let user {
            object["user_id"] = .string(user.rawValue)
            // A user known only by aliases has no external id.
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
