import Model

/// One message as a RationalOwl app expects to receive it.
///
/// No public document shows the vendor's payload: `aps` is derived from what the sample apps need (docs/contracts/rationalowl.md#6). The bytes depend on the
/// message, the platform and the settings, not on the target, so a sender may encode once for many targets.
struct RationalOwlPayload {
    private let notification: Notification
    private let platform: Platform
    private let settings: PayloadSettings

    private var content: Content { notification.content }

    init(_ notification: Notification, platform: Platform, settings: PayloadSettings) {
        self.notification = notification
        self.platform = platform
        self.settings = settings
    }

    /// - Throws: `AdapterError(.tooLarge)` when it cannot be made to fit, `.invalid` when there is nothing to show.
    func encoded() throws(AdapterError) -> PushPayload {
        if let raw = content.raw { return try unchanged(raw) }
        return content.isSilent ? try silent() : try alert()
    }

    // MARK: Alert (docs/contracts/rationalowl.md#6.2)

    private func alert() throws(AdapterError) -> PushPayload {
        let title = content.title ?? ""
        guard !title.isEmpty || !content.body.isEmpty else { throw AdapterError(.invalid, field: "body") }
        var text = PushText(title: title, body: content.body)
        let bytes = try fitted(&text)
        return PushPayload(
            bytes: bytes,
            type: .alert,
            priority: 10,
            // The app looks a message up by the notification's identifier, so a collapse id of the caller is ignored (docs/contracts/rationalowl.md#6.2).
            collapseID: notification.message.description,
            reduced: text.reduced
        )
    }

    private func fitted(_ text: inout PushText) throws(AdapterError) -> [UInt8] {
        var bytes = write(text)
        for cut in PushText.Cut.allCases where bytes.count > RationalOwlLimits.payloadBytes {
            if text.apply(cut) { bytes = write(text) }
        }
        let excess = bytes.count - RationalOwlLimits.payloadBytes
        guard excess > 0 else { return bytes }
        guard text.cutBody(byEncodedBytes: excess) else { throw AdapterError(.tooLarge) }
        return write(text)
    }

    private func write(_ text: PushText) -> [UInt8] {
        let custom = CustomKeys(notification, title: text.title, body: text.body).object
        // Android gets data messages only; the transport adds FCM's envelope (docs/contracts/rationalowl.md#6.5).
        guard platform == .ios else { return JSONWriter.bytes(.object(custom)) }
        var root = JSONObject([("aps", aps(text))])
        for (key, value) in custom.pairs { root[key] = value }
        if settings.duplicatesNotiKeys {
            root["notiTitle"] = .string(text.notiTitle)
            root["notiBody"] = .string(text.notiBody)
        }
        return JSONWriter.bytes(.object(root))
    }

    /// No `content-available`: the G1 apps would then acknowledge twice (docs/contracts/rationalowl.md#6.2).
    private func aps(_ text: PushText) -> JSON {
        var alert = JSONObject()
        if !text.alertTitle.isEmpty { alert["title"] = .string(text.alertTitle) }
        alert["subtitle"] = content.subtitle.map { .string($0) }
        alert["body"] = .string(text.alertBody)
        var aps = JSONObject([
            ("alert", .object(alert)),
            ("sound", .string(content.sound ?? "default")),
            ("mutable-content", 1),
        ])
        // Assumed: a badge only if the message names one; the vendor's behaviour is unknown (docs/contracts/rationalowl.md#6.2).
        aps["badge"] = content.badge.map { .int($0) }
        aps["category"] = content.category.map { .string($0) }
        aps["thread-id"] = content.threadID.map { .string($0) }
        if content.isUrgent, settings.urgentIsTimeSensitive { aps["interruption-level"] = "time-sensitive" }
        return .object(aps)
    }

    // MARK: Silent (docs/contracts/rationalowl.md#6.3)

    private func silent() throws(AdapterError) -> PushPayload {
        var root = JSONObject()
        if platform == .ios { root["aps"] = .pairs(["content-available": 1]) }
        for (key, value) in CustomKeys(notification, title: "").object.pairs { root[key] = value }
        return try background(JSONWriter.bytes(.object(root)))
    }

    /// Priority 5, because Apple refuses 10 on a background push, and no collapse id: each carries data of its own.
    private func background(_ bytes: [UInt8]) throws(AdapterError) -> PushPayload {
        guard bytes.count <= RationalOwlLimits.payloadBytes else { throw AdapterError(.tooLarge) }
        return PushPayload(bytes: bytes, type: .background, priority: 5)
    }

    // MARK: Raw

    private func unchanged(_ raw: JSON) throws(AdapterError) -> PushPayload {
        let bytes = JSONWriter.bytes(raw)
        guard content.isSilent else {
            guard bytes.count <= RationalOwlLimits.payloadBytes else { throw AdapterError(.tooLarge) }
            return PushPayload(bytes: bytes, collapseID: notification.message.description)
        }
        return try background(bytes)
    }
}
