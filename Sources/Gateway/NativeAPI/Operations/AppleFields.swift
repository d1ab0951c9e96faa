import AnswerShapes
import ApplePayload
import GatewayHTTP
import Model

/// The members of `apns` of a message: headers of the push, and members of `aps`.
struct AppleFields: InputFields {
    let pushType = BodyField.optional(
        "pushType",
        .pushType,
        "`apns-push-type`; its suffix is added to the app's topic. Null: alert, or background for a silent message."
    )
    let priority = BodyField.optional(
        "priority",
        .integer(1...10),
        "`apns-priority`: 10, 5 or 1; null: the type's own."
    )
    let collapseID = BodyField.optional(
        "collapseId",
        .text(AppleLimits.collapseIDBytes, atLeast: 1),
        "`apns-collapse-id`; null: the message's `collapseId`."
    )
    let expiration = BodyField.optional(
        "expiration",
        .time,
        "`apns-expiration`; 0: one try, nothing is stored. Null: the end of the message."
    )
    let interruptionLevel = BodyField.optional(
        "interruptionLevel",
        .word(Aps.InterruptionLevel.self),
        "How urgently the system shows it."
    )
    let relevanceScore = BodyField.optional(
        "relevanceScore",
        .number,
        "0.0 through 1.0: the highest leads the notification summary."
    )
    let targetContentID = BodyField.optional(
        "targetContentId",
        .text(256, atLeast: 1),
        "The window that is brought forward."
    )
    let filterCriteria = BodyField.optional(
        "filterCriteria",
        .text(256, atLeast: 1),
        "The text that a Focus filter compares."
    )
    let mutableContent = BodyField.optional(
        "mutableContent",
        .flag,
        default: false,
        as: false,
        "The app's service extension may change it before it is shown."
    )
    let contentAvailable = BodyField.optional(
        "contentAvailable",
        .flag,
        default: false,
        as: false,
        "Wakes the app as well."
    )
    let criticalVolume = BodyField.optional(
        "criticalVolume",
        .number,
        "0.0 through 1.0: the sound is a critical alert. The app needs an entitlement of Apple's."
    )
    let title = BodyField.optional("title", .localized, "In place of the message's title.")
    let subtitle = BodyField.optional("subtitle", .localized, "In place of the message's subtitle.")
    let body = BodyField.optional("body", .localized, "In place of the message's text.")
    let launchImage = BodyField.optional("launchImage", .text(128, atLeast: 1), "The image shown while the app starts.")
    let urlArguments = BodyField.optional(
        "urlArguments",
        .list(.text(256), limit: 16),
        "`url-args` of a Safari website push."
    )
}

/// A text that the device looks up in the app's translations.
struct LocalizedFields: InputFields {
    let key = BodyField.required("key", .text(256, atLeast: 1).example("ORDER_SHIPPED"), "The key of the translation.")
    let arguments = BodyField.optional(
        "arguments",
        .list(.text(), limit: 16),
        default: [],
        "Texts that replace its placeholders, in turn."
    )
}

extension InputKind where Value == ApplePushOptions {
    static let apns = InputKind.object(AppleFields()) { (fields) throws(Problem) in
        var options = ApplePushOptions()
        options.type = try fields.pushType
        options.priority = try fields.priority
        options.collapseID = try fields.collapseID
        options.expiresAt = try fields.expiration
        options.interruptionLevel = try fields.interruptionLevel
        options.relevanceScore = try fields.relevanceScore
        options.targetContentID = try fields.targetContentID
        options.filterCriteria = try fields.filterCriteria
        options.isContentMutable = try fields.mutableContent
        options.isContentAvailable = try fields.contentAvailable
        options.criticalVolume = try fields.criticalVolume
        options.title = try fields.title
        options.subtitle = try fields.subtitle
        // `fields.body` is the whole object.
        options.body = try fields[dynamicMember: \.body]
        options.launchImage = try fields.launchImage
        options.urlArguments = try fields.urlArguments
        return options
    }
}

extension InputKind where Value == PushType {
    /// The push types that are sent to a device's registered token. Live Activities use separate tokens (`ActivityOperations`).
    fileprivate static let pushType = InputKind<String>.word(
        among: PushType.documented.filter { $0 != .liveActivity }.map(\.wireName)
    ).map("is not a push type") { PushType(wire: $0) }
}

extension InputKind where Value == ApplePushOptions.Localized {
    fileprivate static let localized = InputKind.object(LocalizedFields()) { (fields) throws(Problem) in
        ApplePushOptions.Localized(key: try fields.key, arguments: try fields.arguments)
    }
}

extension Problem {
    /// Describes a violated rule of Apple, with Apple's name of the field, such as `aps.relevance-score` or `apns-priority`.
    static func invalid(_ field: String, _ fault: PushFault) -> Problem { .invalid(field, fault.description) }
}
