import AnswerShapes
import ApplePayload
import Commands
import GatewayHTTP
import Hummingbird
import Model

/// Live Activities: `/v1/apps/{app}/live-activities`, and the tokens that a device reports for them.
///
/// Each change is a message whose pushes are sent to these tokens. It is stored before the answer, queued, and retried after failures.
enum ActivityOperations {
    static let all = [reportToken, showTokens, start, update, end]

    static let activity = PathField.required("activity", .activityName, "The app's name for the activity.")

    // MARK: Tokens

    struct ReportInput: InputFields {
        let device = DeviceOperations.id
        let attributesType = BodyField.optional(
            "attributesType",
            .activityName.example("ScoreAttributes"),
            "Of a push-to-start token: the Swift type of the activity's attributes."
        )
        let activity = BodyField.optional(
            "activity",
            .activityName,
            "Of the token of a running activity: the app's name for it."
        )
        let token = BodyField.optional(
            "token",
            .text().example("80f1c0a39b2f4d5e80f1c0a39b2f4d5e80f1c0a39b2f4d5e80f1c0a39b2f4d5e"),
            "In hexadecimal digits; null: the device has none any more."
        )
    }

    static let reportToken = NativeOperation(
        "reportLiveActivityToken",
        .put,
        "/v1/devices/{device}/live-activity-tokens",
        scope: .devices,
        "Store the token by which Live Activities of a device are started, or one of them is changed; at most \(CommandLimits.activityTokens) per device.",
        input: ReportInput(),
        example: ["activity": "match-7", "token": "80f1c0a39b2f4d5e80f1c0a39b2f4d5e80f1c0a39b2f4d5e80f1c0a39b2f4d5e"],
        answers: [.empty("It is stored.")],
        problems: [.notFound],
        NativeAPI.reportLiveActivityToken
    )

    struct TokensInput: InputFields {
        let device = DeviceOperations.id
    }

    private static let token = AnswerShape<ActivityToken>(
        "LiveActivityToken",
        [
            .optionalText("attributesType", "Of a push-to-start token.", example: "ScoreAttributes") {
                $0.activity.kind == .start ? $0.activity.name : nil
            },
            .optionalText("activity", "Of the token of a running activity.", example: "match-7") {
                $0.activity.kind == .running ? $0.activity.name : nil
            },
            .text("token", "Masked.", example: "80f1…4d5e") { $0.token.masked },
            .time("registeredAt", "When it was reported.") { $0.registeredAt },
        ]
    )

    static let tokens = AnswerShape<[ActivityToken]>(
        "LiveActivityTokens",
        [.list("tokens", token, "Push-to-start tokens, then those of running activities.") { $0 }]
    )

    static let showTokens = NativeOperation(
        "showLiveActivityTokens",
        .get,
        "/v1/devices/{device}/live-activity-tokens",
        scope: .read,
        "Show a device's tokens for Live Activities.",
        input: TokensInput(),
        answers: [.json(tokens.schema, "The tokens.")],
        problems: [.notFound],
        NativeAPI.showLiveActivityTokens
    ).audited(.read)

    // MARK: Sending

    static let timeToLive = BodyField.optional(
        "ttlSeconds",
        .integer(0...2_592_000),
        "How long the push service may keep it; null: as the app's defaults say."
    )

    struct StartInput: InputFields {
        let app = CommonInputs.app
        let once = CommonInputs.repeatKey
        let to = BodyField.required("to", .audience, "The audience. Devices without a push-to-start token get nothing.")
        let attributesType = BodyField.required(
            "attributesType",
            .activityName.example("ScoreAttributes"),
            "The Swift type of the activity's attributes."
        )
        let attributes = BodyField.required(
            "attributes",
            .anyObject.example(["match": "7"]),
            "The activity's attributes, which stay the same."
        )
        let contentState = ActivityFields.contentState
        let alert = ActivityFields.alert
        let inputPushToken = BodyField.optional(
            "inputPushToken",
            .flag,
            default: false,
            as: false,
            "`input-push-token`: the app gets a token to update the activity with (iOS 18)."
        )
        let inputPushChannel = BodyField.optional(
            "inputPushChannel",
            .channel,
            "`input-push-channel`: the activity follows this channel (iOS 18; on older systems it does not start)."
        )
        let staleDate = ActivityFields.staleDate
        let relevanceScore = ActivityFields.relevanceScore
        let timestamp = ActivityFields.timestamp
        let priority = ActivityFields.priority
        let ttlSeconds = ActivityOperations.timeToLive
    }

    private static let problems: [ProblemCode] = [.notFound, .conflict, .rateLimited, .noCredential, .quotaUsedUp]
    private static let answers: [DeclaredAnswer] = [
        .json(202, MessageOperations.accepted.schema, "The message is stored and will be sent.")
    ]

    static let start = NativeOperation(
        "startLiveActivity",
        .post,
        "/v1/apps/{app}/live-activities",
        scope: .send,
        allowsLimitedReach: true,
        "Start a Live Activity on devices that reported a push-to-start token.",
        input: StartInput(),
        example: [
            "to": ["users": ["u-1"]], "attributesType": "ScoreAttributes", "attributes": ["match": "7"],
            "contentState": ["home": 0, "guest": 0], "alert": ["title": "Kick-off", "body": "Home against guest"],
        ],
        answers: answers,
        problems: problems,
        NativeAPI.startLiveActivity
    )

    struct UpdateInput: InputFields {
        let app = CommonInputs.app
        let activity = ActivityOperations.activity
        let once = CommonInputs.repeatKey
        let to = ActivityOperations.audience
        let contentState = ActivityFields.contentState
        let alert = ActivityFields.alert
        let staleDate = ActivityFields.staleDate
        let relevanceScore = ActivityFields.relevanceScore
        let timestamp = ActivityFields.timestamp
        let priority = ActivityFields.priority
        let ttlSeconds = ActivityOperations.timeToLive
    }

    static let audience = BodyField.optional(
        "to",
        .audience,
        "Only these of the devices that reported a token for the activity; null: all of them, at most \(Audience.listedLimit)."
    )

    static let update = NativeOperation(
        "updateLiveActivity",
        .post,
        "/v1/apps/{app}/live-activities/{activity}/update",
        scope: .send,
        allowsLimitedReach: true,
        "Update a Live Activity on the devices that reported a token for it.",
        input: UpdateInput(),
        example: ["contentState": ["home": 1, "guest": 0]],
        answers: answers,
        problems: problems,
        NativeAPI.updateLiveActivity
    )

    struct EndInput: InputFields {
        let app = CommonInputs.app
        let activity = ActivityOperations.activity
        let once = CommonInputs.repeatKey
        let to = ActivityOperations.audience
        let contentState = ActivityFields.contentState
        let alert = ActivityFields.alert
        let dismissalDate = ActivityFields.dismissalDate
        let timestamp = ActivityFields.timestamp
        let priority = ActivityFields.priority
        let ttlSeconds = ActivityOperations.timeToLive
    }

    static let end = NativeOperation(
        "endLiveActivity",
        .post,
        "/v1/apps/{app}/live-activities/{activity}/end",
        scope: .send,
        allowsLimitedReach: true,
        "End a Live Activity on the devices that reported a token for it.",
        input: EndInput(),
        example: ["contentState": ["home": 2, "guest": 1]],
        answers: answers,
        problems: problems,
        NativeAPI.endLiveActivity
    )
}

extension InputKind where Value == String {
    /// 128 bytes, because the name is part of a key in the database.
    fileprivate static let activityName = text(CommandLimits.keyBytes, atLeast: 1).example("match-7")
}
