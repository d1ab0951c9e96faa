import APNs
import ApplePayload
import Model

/// One push as it would be sent, without the device's token.
struct PushPicture: Sendable {
    /// A token of no device, in place of the real one.
    static let token = String(repeating: "0", count: 64)

    var payload: PushPayload
    var preview: PushPreview

    /// Encodes the payload in the adapter's dialect, and the request around it.
    ///
    /// - Returns: the picture, or the reason why the dialect has no payload for the message.
    static func make(
        _ adapter: any VendorAdapter,
        _ notification: Notification,
        _ target: TargetFacts,
        _ settings: BindingSettings,
        topic: String,
        id: PushID
    ) -> Result<PushPicture, AdapterError> {
        do throws(AdapterError) {
            let payload = try adapter.applePayload(for: notification, to: target, settings: settings)
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
    func headers(token: String) -> [(name: String, value: String)] {
        preview.fields.map { ($0.name, $0.name == ":path" ? $0.value.replacing(Self.token, with: token) : $0.value) }
    }

    /// Without `withContent`, the payload is absent.
    func json(token: String, withContent: Bool = true) -> JSON {
        Self.shape.json(Shown(picture: self, token: token), withContent: withContent)
    }

    /// The reason why a vendor has no payload.
    static func json(of error: AdapterError) -> JSON { failure.json(error) }

    /// A push, or the reason why it cannot be encoded.
    static let schema = JSONSchema.any(of: [shape.schema, failure.schema]).named("PushPreview")

    private struct Shown: Sendable {
        var picture: PushPicture
        /// The placeholder for the device's token.
        var token: String
    }

    private static let shape = AnswerShape<Shown>(
        "Push",
        [
            .text("pushType", "`apns-push-type`.", example: "alert") { $0.picture.payload.type.wireName },
            .int("priority", "`apns-priority`.") { Int($0.picture.payload.priority) },
            .optionalText("collapseId", "`apns-collapse-id`.") { $0.picture.payload.collapseID },
            .int("bytes", "The payload's size.") { $0.picture.payload.bytes.count },
            .texts("reduced", "The parts that were shortened or left out to fit the size limit.") {
                $0.picture.payload.reduced
            },
            .init("headers", .map(of: .text()).described("The request's headers.")) { shown in
                .object(
                    JSONObject(shown.picture.headers(token: shown.token).map { ($0.name, .string($0.value)) })
                )
            },
            .optionalText("refused", "Why Apple would refuse it.") { $0.picture.preview.fault?.description },
            .init("payload", .anything.described("The payload.").example([AppleKey.aps: ["alert": ["body": "Hello"]]]))
            {
                (try? JSONParser.parse($0.picture.payload.bytes)) ?? .null
            }.content,
        ]
    )

    private static let failure = AnswerShape<AdapterError>(
        "PushFailure",
        [.text("error", "Why the payload cannot be encoded.") { $0.description }]
    )
}
