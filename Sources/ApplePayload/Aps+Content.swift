package import Model

extension Aps {
    /// Creates the dictionary from a message's own fields. A silent message has only `content-available`.
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
    /// The caller's own keys without `aps`, to be written next to `aps`.
    package var besideAps: JSONObject {
        guard self[AppleKey.aps] != nil else { return self }
        var keys = self
        keys[AppleKey.aps] = nil
        return keys
    }
}
