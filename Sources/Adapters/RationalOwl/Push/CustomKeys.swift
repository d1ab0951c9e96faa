import ApplePayload
import Model

/// The keys that a RationalOwl app reads in addition to `aps` (docs/contracts/rationalowl.md#6.1). All values are strings: the apps cast to strings,
/// and one of them crashes otherwise.
struct CustomKeys {
    let object: JSONObject

    /// The keys of `notification`. `title` and `body` replace the content's own, because they may have been cut.
    init(_ notification: Notification, title: String, body: String? = nil) {
        let content = notification.content
        var object = JSONObject([
            ("mId", .string(notification.message.description)),
            ("type", content.isUrgent ? "2" : "1"),
        ])
        if !content.isSilent {
            object["title"] = .string(title)
            object["body"] = .string(body ?? content.body)
        }
        object["st"] = .string(String(notification.sentAt.milliseconds))
        if content.isSilent { object["silent"] = "1" }
        if let image = content.media { object["ii"] = .string(image.id) }
        for (key, value) in content.data.pairs where !Self.reserved.contains(key) {
            object[key] = Self.text(value).map { .string($0) }
        }
        self.object = object
    }

    /// Keys that the vendor's server and the demo extension write, so that callers may not. `silent` and `SystemPush` have an effect by their presence alone.
    private static let reserved: Set<String> = [
        AppleKey.aps, "mId", "type", "title", "body", "st", "ii", "notiTitle", "notiBody", "silent", "SystemPush",
        "received-at",
        "show-notification",
    ]

    private static func text(_ value: JSON) -> String? {
        switch value {
        case .null: nil
        case .string(let text), .number(let text): text
        case .bool(let flag): flag ? "true" : "false"
        case .array, .object: JSONWriter.text(value)
        }
    }
}
