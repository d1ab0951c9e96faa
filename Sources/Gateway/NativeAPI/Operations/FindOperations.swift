import AnswerShapes
import GatewayHTTP
import Hummingbird
import Model
import Store

/// `/v1/find`: the objects that a text names.
enum FindOperations {
    static let all = [find]

    struct Input: InputFields {
        let value = BodyField.required(
            "value",
            .found,
            "The id of a message, device or identity, a vendor's message number, a push token, a device's key, a phone number or a user."
        )
        let app = BodyField.optional("app", .app, "Only objects of this app.")
    }

    static let find = NativeOperation(
        "find",
        .post,
        "/v1/find",
        scope: .read,
        "Find messages, devices and users by a text of any kind: an id, a number, a token, a key, a phone number or a user.",
        input: Input(),
        example: ["value": "+82 10-1234-5678"],
        answers: [.json(FindShapes.found.schema, "The objects by kind of name.")],
        NativeAPI.find
    ).audited(.read)
}

extension InputKind where Value == FindText {
    /// 4,096 bytes: the longest push token.
    fileprivate static let found = InputKind<String>.text(DeviceToken.maximumTextBytes, atLeast: 1)
        .example("+82 10-1234-5678").map("must contain a visible character") { FindText($0) }
}

extension NativeAPI {
    func find(_ call: NativeCall<FindOperations.Input>) async throws(Problem) -> Response {
        let text = try call.value
        let app = try call.app
        let found = try await asked { () async throws(StoreError) in
            try await queries.find(text, app: app, in: call.tenant)
        }
        call.found(found.reduce(0) { $0 + $1.count }, subjects: found.flatMap(\.subjects))
        return .json(FindShapes.found.json(found))
    }
}

extension FoundObjects {
    /// The found object as a subject of the audit, if the text is an id that the gateway made: it names no person then.
    fileprivate var subjects: [String] {
        switch kind {
        case .message: messages.map { "message \($0.id)" }
        case .device, .identity: devices.compactMap { $0.id.map { "device \($0)" } }
        case .messageNumber, .token, .key, .phone, .user: []
        }
    }
}

extension FindText {
    /// The people whom the text may name, as subjects of the audit, which stores pseudonyms of them.
    var people: [String] {
        kinds.compactMap { kind in
            switch kind {
            case .message, .messageNumber, .device, .identity: nil
            case .token: token.map { "token \($0.text)" }
            case .key: "device-key \(text)"
            case .phone: phone.map { "phone \($0)" }
            case .user: "user \(text)"
            }
        }
    }
}
