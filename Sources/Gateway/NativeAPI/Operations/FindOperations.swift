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

    private static let message = AnswerShape<FoundMessage>(
        "FoundMessage",
        [
            .id("id", "The message's id.") { $0.id.description },
            .text("app", "The app.", example: "shop") { $0.scope.app.rawValue },
            .text("vendor", "The vendor of the call.", example: "native") { $0.scope.vendor.rawValue },
            .word("state", "The state of the message.") { $0.state },
            .time("dueAt", "When the first target is due.") { $0.dueAt },
        ]
    )

    private static let identity = AnswerShape<FoundDevice.Identity>(
        "FoundIdentity",
        [
            .id("id", "The identity's id: `target` of its deliveries.") { $0.id.description },
            .text("vendor", "The vendor whose identity it is.", example: "native") { $0.vendor.rawValue },
            .text("key", "The vendor's name for the device.", example: "phone-1") { $0.key.rawValue },
            .word("state", "Only an active identity receives pushes.") { $0.state },
            .optionalText("user", "The user.", example: "u-1") { $0.user?.rawValue },
        ]
    )

    private static let device = AnswerShape<FoundDevice>(
        "FoundDevice",
        [
            .optionalID("id", "The device's id; null: the identity has lost its device.") { $0.id?.description },
            .text("app", "The app.", example: "shop") { $0.app.rawValue },
            .optionalText("platform", "The platform.", example: "ios") { $0.destination?.platform.rawValue },
            .optionalText("environment", "Apple's environment of the token.", example: "production") {
                $0.destination?.environment.rawValue
            },
            .optionalText("token", "The push token, masked.", example: "8d7c2b…504f") {
                $0.destination?.token?.masked
            },
            .optionalText("tokenState", "Whether the token can be used.", example: "active") {
                $0.destination?.tokenState.rawValue
            },
            .optionalTime("seenAt", "When it last called.") { $0.seenAt },
            .list("identities", identity, "The identities that have the name; of a device or token: all of them.") {
                $0.identities
            },
        ]
    )

    private static let user = AnswerShape<FoundUser>(
        "FoundUser",
        [
            .text("app", "The app.", example: "shop") { $0.scope.app.rawValue },
            .text("vendor", "The vendor of the back end that described the user.", example: "native") {
                $0.scope.vendor.rawValue
            },
            .text("user", "The user's id.", example: "u-1") { $0.user.rawValue },
        ]
    )

    private static let match = AnswerShape<FoundObjects>(
        "Match",
        [
            .word("kind", "The kind of name that the text is for these objects.") { $0.kind },
            .list("messages", message, "The messages; without their content.") { $0.messages },
            .list("devices", device, "The devices.") { $0.devices },
            .list("users", user, "The descriptions of the user, with or without a device.") { $0.users },
            .flag("more", "Whether there are more objects: at most \(FoundObjects.limit) are returned.") { $0.isCut },
        ]
    )

    static let found = AnswerShape<[FoundObjects]>(
        "Found",
        [.list("matches", match, "One entry for each kind of name that matches; empty: nothing has this name.") { $0 }]
    )

    static let find = NativeOperation(
        "find",
        .post,
        "/v1/find",
        scope: .read,
        "Find messages, devices and users by a text of any kind: an id, a number, a token, a key, a phone number or a user.",
        input: Input(),
        example: ["value": "+82 10-1234-5678"],
        answers: [.json(found.schema, "The objects by kind of name.")],
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
        return .json(FindOperations.found.json(found))
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
