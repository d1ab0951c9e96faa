import ApplePayload
import Model

/// The object `apple_push` that produces a stored payload: the inverse of `ApplePush`.
///
/// The vendor's object has no place for Apple's keys `subtitle`, `target-content-id`, `filter-criteria` and for the volume of a sound, which only messages of other
/// dialects contain. They are left out.
struct ApplePushObject {
    private(set) var object = JSONObject()

    /// - Parameter document: a payload without its reference.
    init(_ document: JSONObject) {
        readAps(document[AppleKey.aps]?.object ?? JSONObject())
        let attachment = document[BrazePayload.attachmentKey]?["att"]
        if let url = attachment?["url"]?.string, let type = attachment?["type"]?.string {
            object["asset_url"] = .string(url)
            object["asset_file_type"] = .string(type)
        }
        var extra = JSONObject()
        for (key, value) in document.pairs where key != AppleKey.aps && key != BrazePayload.attachmentKey {
            extra[key] = value
        }
        if let uri = extra[ApplePush.linkKey]?.string, let isWeb = extra[ApplePush.webKey]?.bool, !uri.isEmpty {
            object["custom_uri"] = .string(uri)
            object["use_webview"] = .bool(isWeb)
            extra[ApplePush.linkKey] = nil
            extra[ApplePush.webKey] = nil
        }
        if !extra.isEmpty { object["extra"] = .object(extra) }
    }

    /// Adds the delivery options of a message.
    mutating func add(_ notification: Notification) {
        if let id = notification.collapseID { object["collapse_id"] = .string(id) }
        // Rounded up: the vendor refuses an expiry that has passed.
        object["expiry"] = notification.expiresAt.map { .string(BrazeTime.text($0 + .milliseconds(999))) }
        guard notification.origin == .braze else { return }
        object["apns_priority"] = notification.content.data[BrazePayload.priorityKey]
        object["message_variation_id"] = notification.content.data[BrazePayload.variationKey]
    }

    private mutating func readAps(_ aps: JSONObject) {
        switch aps[AppleKey.alert] {
        case .string(let text)?: object["alert"] = .string(text)
        case .object(let alert)?: object["alert"] = .object(Self.alert(alert))
        case nil, .null?, .bool?, .number?, .array?: break  // nothing to display
        }
        object["badge"] = aps[AppleKey.badge]
        readSound(aps[AppleKey.sound]?.object?["name"] ?? aps[AppleKey.sound])
        if aps[AppleKey.contentAvailable] == 1 { object["content-available"] = true }
        if aps[AppleKey.mutableContent] == 1 { object["mutable_content"] = true }
        object["category"] = aps[AppleKey.category]
        object["notification_group_thread_id"] = aps[AppleKey.threadID]
        object["interruption_level"] = aps[AppleKey.interruptionLevel]
        object["relevance_score"] = aps[AppleKey.relevanceScore]
    }

    /// An empty sound counts as none in `sound`, but not in an alert.
    private mutating func readSound(_ sound: JSON?) {
        guard sound == "", var alert = object["alert"]?.object else {
            object["sound"] = sound
            return
        }
        alert["sound"] = sound
        object["alert"] = .object(alert)
    }

    private static func alert(_ own: JSONObject) -> JSONObject {
        var alert = JSONObject()
        for (name, key) in ApplePush.alertTexts { alert[name] = own[key] }
        for (name, key) in ApplePush.alertArguments { alert[name] = own[key] }
        return alert
    }
}
