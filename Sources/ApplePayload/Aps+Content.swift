package import Model

extension Aps {
    /// The dictionary of a message's own fields: a silent message has `content-available` and nothing else.
    package init(_ content: Content) {
        guard !content.isSilent else {
            self.init(isContentAvailable: true)
            return
        }
        let alert = AlertContent(
            title: content.title.map { .literal($0) },
            subtitle: content.subtitle.map { .literal($0) },
            body: .literal(content.body)
        )
        self.init(
            alert: .detailed(alert),
            badge: content.badge,
            sound: .named(content.sound ?? "default"),
            threadID: content.threadID,
            category: content.category,
            interruptionLevel: content.isUrgent ? .timeSensitive : nil
        )
    }
}

extension JSONObject {
    /// A caller's own keys, as they may stand beside `aps`.
    package var besideAps: JSONObject {
        guard self[AppleKey.aps] != nil else { return self }
        var keys = self
        keys[AppleKey.aps] = nil
        return keys
    }
}
