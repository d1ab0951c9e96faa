import AnswerShapes
import Commands
import GatewayHTTP
import Hummingbird
import Model
import Store

/// `/v1/apps/{app}/receipts` and `/v1/apps/{app}/media`.
enum ReceiptOperations {
    static let all = [report, storeMedia]

    struct ReportInput: InputFields {
        let once = CommonInputs.repeatKey
        let app = CommonInputs.app
        let message = BodyField.required(
            "message",
            .text(128, atLeast: 1).example("0198a1f0-7c00-7000-8000-000000000001"),
            "The message's id, `messageId` of the payload."
        )
        let key = BodyField.required("key", .deviceKey, "The key of the reporting device.")
        let kind = BodyField.required("kind", .word(ReceiptKind.self), "The reported event; `read` implies `received`.")
        let at = BodyField.optional("at", .time, "When it happened; null: now.")
    }

    /// `orphan`: the gateway does not know a delivery of the message to the device.
    static let outcomes = ["recorded", "repeated", "orphan"]

    static func answer(_ outcome: ReceiptReply) -> KeptAnswer { .json(["outcome": .string("\(outcome)")]) }

    static let report = NativeOperation(
        "reportReceipt",
        .post,
        "/v1/apps/{app}/receipts",
        scope: .devices,
        "Report that a device received a message, or that a user read it.",
        input: ReportInput(),
        answers: [
            .json(
                JSONSchema.object([
                    ("outcome", .words(outcomes).described("`orphan`: the delivery is unknown."), true)
                ]).named("ReceiptOutcome"),
                "The outcome of the report."
            )
        ],
        problems: [.notFound, .rateLimited],
        NativeAPI.reportReceipt
    )

    struct MediaInput: InputFields {
        let once = CommonInputs.repeatKey
        let app = CommonInputs.app
        let hash = PathField.required(
            "hash",
            .text(64, atLeast: 1).example(.string(String(repeating: "5f", count: 32))),
            "The body's SHA-256 in hexadecimal digits."
        )
    }

    /// Images belong to the tenant. The app of the path decides only which keys may make the call, and need not exist.
    static let storeMedia = NativeOperation(
        "storeMedia",
        .put,
        "/v1/apps/{app}/media/{hash}",
        scope: .send,
        allowsLimitedReach: true,
        "Store an image, which messages of all apps of the tenant reference by its hash.",
        input: MediaInput(),
        body: .bytes(type: "application/octet-stream"),
        answers: [
            .json(
                201,
                JSONSchema.object([
                    ("hash", .text(example: String(repeating: "5f", count: 32)).described("The image's hash."), true)
                ]).named("StoredMedia"),
                "The image is stored."
            )
        ],
        problems: [.rateLimited],
        NativeAPI.storeMedia
    )
}

extension NativeAPI {
    func reportReceipt(_ call: NativeCall<ReceiptOperations.ReportInput>) async throws(Problem) -> Response {
        let command = ReceiptCommand.report(
            try call.kind,
            message: try call.message,
            reporter: Reporter(key: try call.key),
            at: try call.at
        )
        let app = try call.app
        let answer = try await perform(
            .receipt(command),
            call.caller,
            app: app,
            once: repeatKey(try call.once, call)
        ) { reply in
            guard case .receipt(let outcome) = reply else { return nil }
            return ReceiptOperations.answer(outcome)
        }
        // Only a receipt of an unknown delivery can name an unknown app; the look-up costs the others nothing.
        if answer == ReceiptOperations.answer(.orphan) { try await known(app, call.caller) }
        return .kept(answer)
    }

    func storeMedia(_ call: NativeCall<ReceiptOperations.MediaInput>) async throws(Problem) -> Response {
        let hash = identifiers.sha256(call.bytes)
        guard hash == (try call.hash).lowercased() else { throw .invalid("hash", "the body's SHA-256 is \(hash)") }
        let answer = try await perform(
            .media(.store(bytes: call.bytes, hash: hash)),
            call.caller,
            app: try call.app,
            once: repeatKey(try call.once, call)
        ) { reply in
            if case .refused = reply { return nil }
            return .json(["hash": .string(hash)], status: 201)
        }
        return .kept(answer)
    }
}
