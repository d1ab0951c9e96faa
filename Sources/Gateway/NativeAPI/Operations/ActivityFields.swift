import AnswerShapes
import ApplePayload
import GatewayHTTP
import Model

/// Body fields that the operations of Live Activities share.
enum ActivityFields {
    static let contentState = BodyField.optional(
        "contentState",
        .anyObject.example(["home": 2, "guest": 1]),
        "The activity's `ContentState`, as a plain `JSONDecoder` reads it. Only an end may be without."
    )
    static let alert = BodyField.optional("alert", .activityAlert, "Shown and played with the change.")
    static let staleDate = BodyField.optional("staleDate", .time, "From then on the activity counts as out of date.")
    static let relevanceScore = BodyField.optional(
        "relevanceScore",
        .number,
        "The activity with the highest score is shown in the Dynamic Island."
    )
    static let timestamp = BodyField.optional(
        "timestamp",
        .time,
        "The device ignores what is older than what it shows; null: now. Unit on the wire: seconds."
    )
    static let priority = BodyField.optional(
        "priority",
        .integer(1...10),
        default: 10,
        as: 10,
        "`apns-priority`: 10 counts against the app's hourly budget; 5 does not."
    )
    static let dismissalDate = BodyField.optional(
        "dismissalDate",
        .time,
        "When an ended activity leaves the screen; null: the system decides, within four hours. A past time: at once."
    )
}

/// The members of `alert` of a Live Activity.
struct ActivityAlertFields: InputFields {
    let title = BodyField.required("title", .alertText, "The title, or a key of the app's translations.")
    let body = BodyField.required("body", .alertText, "The text, or a key of the app's translations.")
    let sound = BodyField.optional("sound", .text(128, atLeast: 1), "The sound's name.")
}

extension InputKind where Value == LiveActivity.Alert {
    static let activityAlert = InputKind.object(ActivityAlertFields()) { (fields) throws(Problem) in
        // `fields.body` is the whole object.
        LiveActivity.Alert(
            title: try fields.title,
            body: try fields[dynamicMember: \.body],
            sound: try fields.sound
        )
    }
}

extension InputKind where Value == AlertText {
    /// A text, or the object `{"key": …, "arguments": […]}` for a localized text.
    fileprivate static let alertText: InputKind = {
        let text = InputKind<String>.text().example("Goal!")
        let localized = InputKind<AlertText>.object(LocalizedFields()) { (fields) throws(Problem) in
            .localized(key: try fields.key, arguments: try fields.arguments)
        }
        return InputKind(.any(of: [text.schema, localized.schema])) { (json, name) throws(Problem) in
            if json.object != nil { return try localized.read(json, name) }
            return .literal(try text.read(json, name))
        }
    }()
}
