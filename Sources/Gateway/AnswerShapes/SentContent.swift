import Model
import Store

/// The content of a message in the form of `sendMessage`, so that it can be sent again to others and at another time.
enum SentContent {
    static let schema = JSONSchema.anyObject.example(["title": "Hello", "body": "Your parcel is here.", "data": [:]])

    /// Only members that differ from their defaults. Null: the message was sent in a vendor's own form, or to a Live Activity.
    static func json(_ facts: MessageFacts) -> JSON {
        let content = facts.content
        guard facts.scope.vendor == .native, content.activity == nil, content.badgeStep == nil else { return .null }
        var object = texts(content)
        object["badge"] = content.badge.map { .int($0) }
        if !content.data.isEmpty { object["data"] = .object(content.data) }
        if content.isUrgent { object["urgent"] = true }
        if content.isSilent { object["silent"] = true }
        if content.consent != .subscribed { object["consent"] = .string(content.consent.rawValue) }
        if content.minAssurance != .claimed { object["minAssurance"] = .string(content.minAssurance.rawValue) }
        object["raw"] = content.raw
        if var options = content.apns {
            // The end of an earlier push is a moment that has passed. Zero is the option to try once.
            options["expiration"] = options["expiresAt"]?.int == 0 ? .int(0) : nil
            options["expiresAt"] = nil
            if !options.isEmpty { object["apns"] = .object(options) }
        }
        object["collapseId"] = facts.collapseID.map { .string($0) }
        return .object(object)
    }

    private static func texts(_ content: Content) -> JSONObject {
        var object = JSONObject()
        let texts: [(String, String?)] = [
            ("title", content.title), ("subtitle", content.subtitle), ("body", content.body), ("sound", content.sound),
            ("category", content.category), ("threadId", content.threadID), ("image", content.media?.hash),
            ("campaign", content.campaign), ("variant", content.campaignVariant),
        ]
        for (name, text) in texts { object[name] = text.map { .string($0) } }
        return object
    }
}
