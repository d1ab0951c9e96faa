import APNs
import ApplePayload
import Model

/// One push as it would be written, without a token.
struct PushPicture: Sendable {
    /// A token that nobody has, in place of the device's.
    static let token = String(repeating: "0", count: 64)

    var payload: PushPayload
    var preview: PushPreview

    /// Writes the payload in the adapter's dialect, and the request around it.
    ///
    /// - Returns: the picture, or why that dialect has no payload for it.
    static func make(
        _ adapter: any VendorAdapter,
        _ notification: Notification,
        _ target: TargetFacts,
        _ settings: BindingSettings,
        topic: String,
        id: PushID
    ) -> Result<PushPicture, AdapterError> {
        do throws(AdapterError) {
            let payload = try adapter.payload(for: notification, to: target, settings: settings)
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

    /// The headers in the order in which they are sent, with `token` where the device's would stand.
    func headers(token: String) -> [(name: String, value: String)] {
        preview.fields.map { ($0.name, $0.name == ":path" ? $0.value.replacing(Self.token, with: token) : $0.value) }
    }

    func json(token: String) -> JSON {
        [
            "pushType": .string(payload.type.wireName), "priority": .int(payload.priority),
            "collapseId": payload.collapseID.map { .string($0) } ?? .null, "bytes": .int(payload.bytes.count),
            "reduced": .array(payload.reduced.map { .string($0) }),
            "headers": .object(JSONObject(headers(token: token).map { ($0.name, .string($0.value)) })),
            "refused": preview.fault.map { .string($0.description) } ?? .null,
            "payload": (try? JSONParser.parse(payload.bytes)) ?? .null,
        ]
    }
}
