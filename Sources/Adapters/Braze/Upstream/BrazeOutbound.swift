import ApplePayload
import HTTPTypes
import Model

/// The calls that send a message through the vendor: `/messages/send`, or `/campaigns/trigger/send` for a triggered campaign, whose text the vendor has.
///
/// A call names users, and the vendor pushes to all their devices. So a user is in one call, with all targets of the list that belong to that user:
///
/// - users with an iOS target: `apple_push`, and with an Android target too the caller's `android_push` if there is one;
/// - users with Android targets only: `android_push` alone. Their iOS devices may take another path, so that a trigger, which reaches all devices, is not sent for them.
///
/// A platform of a user without a target here has another path, or is not addressed.
///
/// Targets without a user of the vendor, and those that the message's filter excludes, are in no call.
struct BrazeOutbound {
    private let notification: Notification
    private let targets: [TargetFacts]
    private let restKey: String
    private let time: Timestamp

    init(_ notification: Notification, to targets: [TargetFacts], restKey: String, at time: Timestamp) {
        self.notification = notification
        self.targets = targets
        self.restKey = restKey
        self.time = time
    }

    private var content: Content { notification.content }
    private var isOwn: Bool { notification.origin == .braze }
    private var isTrigger: Bool { isOwn && content.data[BrazePayload.triggerKey] == true && content.campaign != nil }

    /// A user with the places of the user's targets.
    private struct Recipient {
        var user: UserID
        var places: [Int]
        var hasApple = false
        var hasAndroid = false
    }

    /// - Throws: `AdapterError` for a message that the vendor cannot send.
    func calls() throws(AdapterError) -> [UpstreamCall] {
        let recipients = try recipients()
        let apple = recipients.filter(\.hasApple)
        guard !isTrigger else { return parts(apple).map { call(.trigger, trigger($0), $0) } }
        var messages = JSONObject()
        if !apple.isEmpty { messages["apple_push"] = .object(try applePush()) }
        guard isOwn, let android = content.data[BrazePayload.androidKey] else { return sends(messages, to: apple) }
        let appleOnly = sends(messages, to: apple.filter { !$0.hasAndroid })
        messages["android_push"] = android
        let both = sends(messages, to: apple.filter(\.hasAndroid))
        return appleOnly + both + sends(["android_push": android], to: recipients.filter { !$0.hasApple })
    }

    private func sends(_ messages: JSONObject, to recipients: [Recipient]) -> [UpstreamCall] {
        parts(recipients).map { call(.send, send(messages, to: $0), $0) }
    }

    private func parts(_ recipients: [Recipient]) -> [[Recipient]] {
        stride(from: 0, to: recipients.count, by: BrazeLimits.recipientCount).map {
            Array(recipients[$0..<min(recipients.count, $0 + BrazeLimits.recipientCount)])
        }
    }

    /// In the order of their first targets.
    private func recipients() throws(AdapterError) -> [Recipient] {
        var filter: AudienceFilter?
        if isOwn, let stored = content.data[AudienceFilter.key] { filter = try AudienceFilter(stored: stored) }
        var recipients: [Recipient] = []
        var known: [UserID: Int] = [:]
        for (place, target) in targets.enumerated() {
            // The vendor does not know the ids that the gateway gives to users without one.
            guard let user = target.person.user, !SDKData.isUnnamed(user) else { continue }
            if let filter, !filter.includes(target, at: notification.sentAt) { continue }
            let index = known[user] ?? recipients.count
            if index == recipients.count {
                known[user] = index
                recipients.append(Recipient(user: user, places: []))
            }
            recipients[index].places.append(place)
            switch target.destination.platform {
            case .ios: recipients[index].hasApple = true
            case .android: recipients[index].hasAndroid = true
            }
        }
        return recipients
    }

    // MARK: Bodies

    private func send(_ messages: JSONObject, to recipients: [Recipient]) -> JSONObject {
        var body: JSONObject = ["external_user_ids": .array(recipients.map { .string($0.user.rawValue) })]
        addNames(to: &body)
        body["messages"] = .object(messages)
        return body
    }

    private func trigger(_ recipients: [Recipient]) -> JSONObject {
        var body = JSONObject()
        addNames(to: &body)
        body["trigger_properties"] = content.data[BrazePayload.propertiesKey]
        body["recipients"] = .array(recipients.map { .object(recipient($0)) })
        return body
    }

    private func recipient(_ recipient: Recipient) -> JSONObject {
        var object: JSONObject = ["external_user_id": .string(recipient.user.rawValue)]
        let properties = recipient.places.lazy.map { targets[$0].variables }.first { !$0.isEmpty }
        object["trigger_properties"] = properties.map { .object($0) }
        return object
    }

    /// The names of the message that its caller chose. Those of another dialect are not the vendor's.
    private func addNames(to body: inout JSONObject) {
        if isOwn {
            body["campaign_id"] = content.campaign.map { .string($0) }
            body["send_id"] = content.data[BrazePayload.sendKey]
        }
        body[SubscriptionFields.stateField] = .string(SubscriptionFields.state(of: content.consent))
    }

    private func applePush() throws(AdapterError) -> JSONObject {
        var push = ApplePushObject(try document())
        push.add(notification)
        // The vendor would read the braces of another dialect as a template.
        if !isOwn { _ = try LiquidTexts.read(.object(push.object), isRendered: false) }
        return push.object
    }

    private func document() throws(AdapterError) -> JSONObject {
        guard content.activity == nil else { throw AdapterError(.invalid, field: "activity") }
        if let raw = content.raw {
            guard let document = raw.object else { throw AdapterError(.invalid, field: "payload") }
            return document
        }
        do throws(PushFault) {
            let payload = APNsPayload(Aps(content), custom: content.data.besideAps)
            return try payload.document(for: content.isSilent ? .background : .alert)
        } catch {
            throw AdapterError(error, payload: "payload")
        }
    }

    // MARK: Requests

    private func call(_ call: BrazeCall, _ body: JSONObject, _ recipients: [Recipient]) -> UpstreamCall {
        var headers = HTTPFields()
        headers[.contentType] = "application/json"
        headers[.authorization] = "Bearer \(restKey)"
        let request = VendorRequest(
            route: "braze.\(call)",
            method: call.method,
            path: call.rawValue,
            headers: headers,
            body: JSONWriter.bytes(.object(body)),
            receivedAt: time
        )
        return UpstreamCall(request, targets: recipients.flatMap(\.places).sorted())
    }
}
