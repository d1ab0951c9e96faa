import AnswerShapes
import Commands
import Explain
import GatewayHTTP
import Hummingbird
import Model

/// `/v1/messages`.
enum MessageOperations {
    static let all =
        [send, list, show, withdraw] + MessageControl.allCases.map(control) + [listDeliveries, showDelivery]

    /// The id of a message, or the number that its vendor assigned.
    static let id = PathField.required(
        "message",
        .text(128, atLeast: 1).example("0198a1f0-7c00-7000-8000-000000000001"),
        "The message's id, or the number that its vendor assigned."
    )

    struct SendInput: InputFields {
        let once = CommonInputs.repeatKey
        let preview = QueryField.optional(
            "preview",
            .flag,
            default: false,
            as: false,
            "Answer with each vendor's payload, without sending anything."
        )
        let app = BodyField.required("app", .app, "The app's id.")
        let to = BodyField.required("to", .audience, "The audience.")
        let title = BodyField.optional("title", .text(), "The title.")
        let subtitle = BodyField.optional("subtitle", .text(), "The subtitle.")
        let body = BodyField.optional("body", .text(), default: "", "The text.")
        let badge = BodyField.optional("badge", .integer(0...Int(Int32.max)), "The app icon's badge.")
        let sound = BodyField.optional("sound", .text(128), "The sound's name; null: the default sound.")
        let category = BodyField.optional("category", .text(128), "The notification's category.")
        let threadID = BodyField.optional(
            "threadId",
            .text(128),
            "Notifications with the same id are shown as a group."
        )
        let data = BodyField.optional("data", .anyObject, "Members for the app, in addition to `aps`.")
        let urgent = BodyField.optional("urgent", .flag, default: false, as: false, "Sent before all others.")
        let silent = BodyField.optional(
            "silent",
            .flag,
            default: false,
            as: false,
            "Wakes the app without showing anything."
        )
        let consent = BodyField.optional(
            "consent",
            .word(ConsentRule.self),
            "The consent that users need: opted in, not unsubscribed (default), or none."
        )
        let minAssurance = BodyField.optional(
            "minAssurance",
            .word(among: Assurance.required),
            "The least level of the identities that get it; null: the app's default. Others are suppressed with the reason `assurance`."
        )
        let raw = BodyField.optional("raw", .anyObject, "A complete payload for Apple, for native devices.")
        let apns = BodyField.optional(
            "apns",
            .apns,
            "Options for Apple's devices only: headers of the push and members of `aps`."
        )
        let image = BodyField.optional("image", .imageHash, "The SHA-256 of an image stored with `storeMedia`.")
        let collapseID = BodyField.optional(
            "collapseId",
            .text(64),
            "A later notification with the same id replaces the earlier one."
        )
        let campaign = BodyField.optional(
            "campaign",
            .text(128, atLeast: 1),
            "The campaign under which analytics count the message."
        )
        let variant = BodyField.optional(
            "variant",
            .text(128, atLeast: 1),
            "The part of the campaign, such as one of two texts that are compared. Only with `campaign`."
        )
        let sendAt = BodyField.optional("sendAt", .schedule, "When it is due; null: now.")
        let ttlSeconds = BodyField.optional(
            "ttlSeconds",
            .integer(0...2_592_000),
            "How long the push service may keep the notification; null: the app's default."
        )
    }

    /// The result of a submission.
    struct Accepted: Sendable {
        var id: MessageID
        var recipients: Int?
    }

    static let accepted = AnswerShape<Accepted>(
        "AcceptedMessage",
        [
            .id("id", "The message's id.") { $0.id.description },
            .optionalInt("recipients", "Targets; null while the audience is being expanded.") { $0.recipients },
        ]
    )

    static let send = NativeOperation(
        "sendMessage",
        .post,
        "/v1/messages",
        scope: .send,
        allowsLimitedReach: true,
        "Send a message to users, groups, a tag expression, a list of devices or everyone; now, at a time, or at a local time.",
        input: SendInput(),
        example: [
            "app": "shop", "to": ["users": ["u-1"]], "title": "Hello", "body": "Your parcel is here.",
            "data": ["order": "4711"], "ttlSeconds": 86_400, "apns": ["interruptionLevel": "time-sensitive"],
        ],
        answers: [
            .json(202, accepted.schema, "The message is stored and will be sent."),
            .json(200, PayloadPreview.schema, "With `preview`: what would be sent."),
        ],
        problems: [.notFound, .conflict, .rateLimited, .noCredential, .quotaUsedUp],
        NativeAPI.sendMessage
    )

    /// 50 messages: each is counted by a statement of its own.
    static let countedLimit = 50

    struct ListInput: InputFields {
        let app = CommonInputs.appFilter
        let state = QueryField.optional("state", .word(MessageState.self), "Only in this state.")
        let vendor = QueryField.optional("vendor", .vendor, "Only sent through this vendor's API.")
        let submittedBy = QueryField.optional(
            "submittedBy",
            .text(256, atLeast: 1).example("key:crm"),
            "Only of this sender, `submittedBy` of a message."
        )
        let label = QueryField.optional(
            "label",
            .text(256, atLeast: 1).example("winter"),
            "Only with this label: a name under which the vendor's API counts messages together, such as a campaign."
        )
        let from = QueryField.optional("from", .time, "Only due at or after this time.")
        let to = QueryField.optional("to", .time, "Only due before this time.")
        let text = QueryField.optional(
            "text",
            .text(256, atLeast: 1).example("parcel"),
            "Only with this text in title or body, also of a payload in the vendor's own form or in the values of a send that fills templates, whatever the case of its letters. Needs the scope `content` for the app."
        )
        let counts = QueryField.optional(
            "counts",
            .flag,
            default: false,
            as: false,
            "Also count each message's deliveries by stage, as `funnel`. At most \(MessageOperations.countedLimit) messages per page then."
        )
        let after = QueryField.optional(
            "after",
            .messageCursor,
            "`next` of the previous page, with the same filters."
        )
        let limit = CommonInputs.limit
    }

    static let page = AnswerPage(
        "messages",
        NativeShapes.messageSummary,
        next: .text(example: "0198a1f0-7c00-7000-8000-000000000001"),
        more: [
            (
                "searchedTo",
                .time.nullable.described(
                    "The messages that are due after this were searched; null: all messages were, and this is the last page."
                )
            )
        ]
    )

    static let list = NativeOperation(
        "listMessages",
        .get,
        "/v1/messages",
        scope: .read,
        "List and search messages of every vendor, the latest due first. `showMessage` shows the counts of a message, and `counts` those of a page.",
        input: ListInput(),
        answers: [.json(page.schema, "A page of messages.")],
        NativeAPI.listMessages
    ).audited(.read)

    struct IDInput: InputFields {
        let message = MessageOperations.id
    }

    static let show = NativeOperation(
        "showMessage",
        .get,
        "/v1/messages/{message}",
        scope: .read,
        "Show a message's state and its counts by stage.",
        input: IDInput(),
        answers: [.json(NativeShapes.message.schema, "The message.")],
        problems: [.notFound],
        NativeAPI.showMessage
    ).audited(.read)

    struct ControlInput: InputFields {
        let message = MessageOperations.id
        let once = CommonInputs.repeatKey
    }

    private static func changed(_ schema: String, _ name: String) -> JSONSchema {
        JSONSchema.object([
            ("id", .uuid.described("The message's id."), true),
            (name, .flag.described("False: there was nothing to change."), true),
        ]).named(schema)
    }

    static let withdraw = NativeOperation(
        "withdrawMessage",
        .delete,
        "/v1/messages/{message}",
        scope: .send,
        "Cancel the deliveries that are not sent yet. The same as `cancelMessage`.",
        input: ControlInput(),
        answers: [.json(changed("WithdrawnMessage", "canceled"), "Whether anything was canceled.")],
        problems: [.notFound],
        NativeAPI.withdrawMessage
    ).audited(.act)

    private static func summary(_ control: MessageControl) -> String {
        switch control {
        case .cancel: "Cancel the deliveries that are not sent yet."
        case .pause: "Stop sending until the message is resumed. Pushes in flight are still sent."
        case .resume: "Resume a paused message."
        case .requeue: "Retry the parts that the gateway stopped trying."
        case .approve: "Approve a message of somebody else that awaits an approval. Cancel it to reject it."
        }
    }

    private static func control(_ control: MessageControl) -> NativeOperation {
        NativeOperation(
            "\(control.rawValue)Message",
            .post,
            "/v1/messages/{message}/\(control.rawValue)",
            scope: .send,
            summary(control) + " A repeated call changes nothing and succeeds.",
            input: ControlInput(),
            answers: [.json(changed("ChangedMessage", "changed"), "Whether anything changed.")],
            problems: [.notFound],
            { api in
                { (call) async throws(Problem) in try await api.controlMessage(call, control, answer: "changed") }
            }
        ).audited(.act)
    }

    struct DeliveriesInput: InputFields {
        let message = MessageOperations.id
        let state = QueryField.optional("state", .word(DeliveryState.self), "Only in this state.")
        let after = CommonInputs.after(TargetID.self)
        let limit = CommonInputs.limit
    }

    static let deliveries = AnswerPage("deliveries", NativeShapes.delivery, next: .uuid)

    static let listDeliveries = NativeOperation(
        "listDeliveries",
        .get,
        "/v1/messages/{message}/deliveries",
        scope: .read,
        "List a message's deliveries that have an outcome, by target.",
        input: DeliveriesInput(),
        answers: [.json(deliveries.schema, "A page of deliveries.")],
        problems: [.notFound],
        NativeAPI.listDeliveries
    ).audited(.read)

    struct DeliveryInput: InputFields {
        let message = MessageOperations.id
        let target = PathField.required(
            "target",
            .id(TargetID.self, missing: "no such delivery"),
            "The target's id, `target` of a delivery."
        )
    }

    static let showDelivery = NativeOperation(
        "showDelivery",
        .get,
        "/v1/messages/{message}/deliveries/{target}",
        scope: .read,
        "Show one delivery, also a queued one, and explain its state.",
        input: DeliveryInput(),
        answers: [.json(DeliveryExplanation.shape.schema, "The delivery with its explanation.")],
        problems: [.notFound],
        NativeAPI.showDelivery
    ).audited(.read)
}

/// When a message is due.
struct MessageSchedule: Sendable, Hashable {
    var at: Timestamp?
    /// A wall-clock time in each device's own time zone.
    var local: LocalTime?
    /// The time between the acceptance and the due time.
    var delay: Duration?
}

/// The members of `sendAt` when it is an object: one of them.
struct RelativeScheduleFields: InputFields {
    let local = BodyField.optional(
        "local",
        .localTime,
        "A time without a zone, like 2026-12-01T09:00:00: each device gets the message when its own clock shows it."
    )
    let after = BodyField.optional(
        "after",
        InputKind<Int>.integer(0...86_400),
        "Seconds from the acceptance. Until then the message can be canceled as a whole. A repeated call has the same body, which one with a moment has not."
    )
}

extension InputKind where Value == LocalTime {
    static let localTime = InputKind<String>.text(32, atLeast: 1).example("2026-12-01T09:00:00").map(
        "must be a time without a zone, like 2026-12-01T09:00:00"
    ) { LocalTime($0) }
}

extension InputKind where Value == MessageSchedule {
    /// A point in time, `{"local": …}` or `{"after": …}`.
    static let schedule: InputKind = {
        let moment = InputKind<Timestamp>.time
        let relative = InputKind<MessageSchedule>.object(RelativeScheduleFields()) { (fields) throws(Problem) in
            let (local, after) = (try fields.local, try fields.after)
            guard (local == nil) != (after == nil) else { throw .invalid("sendAt", "must have one of local and after") }
            return MessageSchedule(local: local, delay: after.map { .seconds($0) })
        }
        var schema = relative.schema.example(["local": "2026-12-01T09:00:00"])
        schema.json["minProperties"] = 1
        schema.json["maxProperties"] = 1
        return InputKind(.any(of: [moment.schema, schema])) { (json, name) throws(Problem) in
            if json.object != nil { return try relative.read(json, name) }
            return MessageSchedule(at: try moment.read(json, name))
        }
    }()
}

extension InputKind where Value == String {
    /// 64 hexadecimal digits, converted to lower case.
    fileprivate static let imageHash = text(64).example(.string(String(repeating: "5f", count: 32))).map(
        "must be the hash of PUT /v1/apps/{app}/media/{hash}"
    ) { $0.utf8.count == 64 && HexCoding.decode($0) != nil ? $0.lowercased() : nil }
}
