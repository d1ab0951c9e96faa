import APNs
import ApplePayload
package import Explain
package import Model

/// The JSON form of a push, or of the reason why it cannot be encoded.
extension PushPicture {
    /// Without `withContent`, the payload is absent.
    package func json(token: String, withContent: Bool = true) -> JSON {
        Self.shape.json(Shown(picture: self, token: token), withContent: withContent)
    }

    /// The reason why a vendor has no payload.
    package static func json(of error: AdapterError) -> JSON { failure.json(error) }

    /// A push, or the reason why it cannot be encoded.
    package static let schema = JSONSchema.any(of: [shape.schema, failure.schema]).named("PushPreview")

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
            .int("limit", "The size of the largest payload that Apple accepts for the push type.") {
                $0.picture.payload.type.maxPayloadBytes
            },
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
