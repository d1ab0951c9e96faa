package import APNs
import ApplePayload
package import Model

/// One push as it would be sent, without the device's token.
package struct PushPicture: Sendable {
    /// A token of no device, in place of the real one.
    package static let token = String(repeating: "0", count: 64)

    package let payload: PushPayload
    package let preview: PushPreview

    /// Encodes the payload in the adapter's dialect, and the request around it.
    ///
    /// `source` is the adapter of the message's own dialect; nil: it is the native one, or the adapter itself.
    ///
    /// - Returns: the picture, or the reason why the dialect has no payload for the message.
    package static func make(
        _ adapter: any VendorAdapter,
        _ notification: Notification,
        _ target: TargetFacts,
        _ settings: BindingSettings,
        from source: (any VendorAdapter)? = nil,
        topic: String,
        id: PushID
    ) -> Result<PushPicture, AdapterError> {
        do throws(AdapterError) {
            let (translated, reduced) = try notification.translated(for: target, by: source)
            let payload = try adapter.applePayload(for: translated, to: target, settings: settings).losing(reduced)
            let push = Push(
                slot: 0,
                token: DeviceToken(stored: token),
                environment: target.destination.environment,
                topic: topic,
                id: id,
                payload: payload,
                expiresAt: payload.expiresAt ?? notification.expiresAt
            )
            let preview = PushPreview(push, authority: APNsEndpoint(target.destination.environment).authority)
            return .success(PushPicture(payload: payload, preview: preview))
        } catch {
            return .failure(error)
        }
    }

    /// The headers in the order of sending, with `token` in place of the device's token.
    package func headers(token: String) -> [(name: String, value: String)] {
        preview.fields.map { ($0.name, $0.name == ":path" ? $0.value.replacing(Self.token, with: token) : $0.value) }
    }
}
