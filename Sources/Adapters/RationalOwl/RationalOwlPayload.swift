import ApplePayload
import Model

/// A message in the format that a RationalOwl app expects.
///
/// No public document shows the vendor's payload: `aps` is derived from the needs of the sample apps (docs/contracts/rationalowl.md#6). The bytes
/// depend on the message, the platform and the settings, not on the target, so one encoding may serve many targets.
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

    /// - Throws: `AdapterError(.tooLarge)` if it cannot be made to fit, `.invalid` if there is nothing to display.
    func encoded() throws(AdapterError) -> PushPayload {
        if let raw = content.raw { return try forwarded(JSONWriter.bytes(raw)) }
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
            // The app finds a message by the notification's identifier, so a collapse id of the caller is ignored (docs/contracts/rationalowl.md#6.2).
            collapseID: notification.message.description,
            reduced: text.reduced
        )
    }

    /// The payload, with as much of the texts as fits.
    private func fitted(_ text: inout PushText) throws(AdapterError) -> [UInt8] {
        if let bytes = try written(text) { return bytes }
        for cut in PushText.Cut.allCases where text.apply(cut) {
            if let bytes = try written(text) { return bytes }
        }
        var bare = text
        bare.body = ""
        guard let frame = try written(bare)?.count, text.cutBody(toEncodedBytes: AppleLimits.payloadBytes - frame),
            let bytes = try written(text)
        else { throw AdapterError(.tooLarge) }
        return bytes
    }

    /// Nil if it exceeds the size of a payload.
    private func written(_ text: PushText) throws(AdapterError) -> [UInt8]? {
        let custom = CustomKeys(notification, title: text.title, body: text.body).object
        // Android receives data messages only; the transport adds FCM's envelope (docs/contracts/rationalowl.md#6.5).
        guard platform == .ios else {
            let bytes = JSONWriter.bytes(.object(custom))
            return bytes.count <= AppleLimits.payloadBytes ? bytes : nil
        }
        var keys = custom
        if settings.duplicatesNotiKeys {
            keys["notiTitle"] = .string(text.notiTitle)
            keys["notiBody"] = .string(text.notiBody)
        }
        do throws(PushFault) {
            return try APNsPayload(aps(text), custom: keys).bytes(for: .alert)
        } catch {
            guard error.isTooLarge else { throw AdapterError(error) }
            return nil
        }
    }

    /// Without `content-available`, because the G1 apps would then acknowledge twice (docs/contracts/rationalowl.md#6.2). Assumed: a badge only if the
    /// message names one; the vendor's behaviour is unknown.
    private func aps(_ text: PushText) -> Aps {
        var aps = Aps(content)
        aps.alert = .detailed(
            AlertContent(
                title: text.alertTitle.isEmpty ? nil : .literal(text.alertTitle),
                subtitle: content.subtitle.map { .literal($0) },
                body: .literal(text.alertBody)
            )
        )
        aps.isContentMutable = true
        if !settings.urgentIsTimeSensitive { aps.interruptionLevel = nil }
        return aps
    }

    // MARK: Silent (docs/contracts/rationalowl.md#6.3)

    /// Without a collapse id, because each silent push carries its own data.
    private func silent() throws(AdapterError) -> PushPayload {
        let custom = CustomKeys(notification, title: "").object
        guard platform == .ios else { return try forwarded(JSONWriter.bytes(.object(custom))) }
        do throws(PushFault) {
            return try APNsPayload(Aps(content), custom: custom).push(type: .background)
        } catch {
            throw AdapterError(error)
        }
    }

    // MARK: Raw

    /// A payload from another interface.
    private func forwarded(_ bytes: [UInt8]) throws(AdapterError) -> PushPayload {
        do throws(PushFault) {
            guard content.isSilent else {
                return try RawPayload.push(bytes, type: .alert, collapseID: notification.message.description)
            }
            return try RawPayload.push(bytes, type: .background)
        } catch {
            throw AdapterError(error)
        }
    }
}
