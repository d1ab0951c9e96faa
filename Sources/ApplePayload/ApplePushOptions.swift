package import Model

/// The options of a message that apply to Apple's push service only: headers of the push, and members of `aps`.
///
/// Source: Apple, "Sending notification requests to APNs" and "Generating a remote notification". `PushTypeRule` and `PayloadRules` define the
/// permitted combinations.
package struct ApplePushOptions: Sendable, Hashable {
    /// A text that the device looks up in the app's translations.
    package struct Localized: Sendable, Hashable {
        package var key: String
        package var arguments: [String]

        package init(key: String, arguments: [String] = []) {
            self.key = key
            self.arguments = arguments
        }
    }

    /// `apns-push-type`. Nil: `alert`, or `background` for a silent message.
    package var type: PushType?
    /// `apns-priority`. Nil: the type's own.
    package var priority: Int?
    /// `apns-collapse-id`. Nil: the message's.
    package var collapseID: String?
    /// `apns-expiration`. Zero: one try. Nil: the end of the message.
    package var expiresAt: Timestamp?
    package var interruptionLevel: Aps.InterruptionLevel?
    package var relevanceScore: Double?
    package var targetContentID: String?
    package var filterCriteria: String?
    package var isContentMutable = false
    package var isContentAvailable = false
    /// The sound is a critical alert, played at this volume.
    package var criticalVolume: Double?
    package var title: Localized?
    package var subtitle: Localized?
    package var body: Localized?
    package var launchImage: String?
    package var urlArguments: [String]?

    package init() {}

    /// Whether an option is a member of `aps`.
    package var hasMembers: Bool {
        var headers = ApplePushOptions()
        headers.type = type
        headers.priority = priority
        headers.collapseID = collapseID
        headers.expiresAt = expiresAt
        return self != headers
    }

    /// Whether the push type is one that other vendors' SDKs do not show.
    package var isForNativeOnly: Bool {
        switch type {
        case nil, .alert, .background: false
        default: true
        }
    }
}

// MARK: Stored form

extension ApplePushOptions {
    private enum Key {
        static let type = "pushType"
        static let priority = "priority"
        static let collapseID = "collapseId"
        static let expiresAt = "expiresAt"
        static let interruptionLevel = "interruptionLevel"
        static let relevanceScore = "relevanceScore"
        static let targetContentID = "targetContentId"
        static let filterCriteria = "filterCriteria"
        static let isContentMutable = "mutableContent"
        static let isContentAvailable = "contentAvailable"
        static let criticalVolume = "criticalVolume"
        static let title = "title"
        static let subtitle = "subtitle"
        static let body = "body"
        static let key = "key"
        static let arguments = "arguments"
        static let launchImage = "launchImage"
        static let urlArguments = "urlArguments"
    }

    /// The stored form (`Content.apns`). It contains only the options that are set.
    package var json: JSONObject {
        var object = JSONObject()
        object[Key.type] = type.map { .string($0.wireName) }
        object[Key.priority] = priority.map { .int($0) }
        object[Key.collapseID] = collapseID.map { .string($0) }
        object[Key.expiresAt] = expiresAt.map { .int($0.milliseconds) }
        object[Key.interruptionLevel] = interruptionLevel.map { .string($0.rawValue) }
        object[Key.relevanceScore] = relevanceScore.map { .number($0.description) }
        object[Key.targetContentID] = targetContentID.map { .string($0) }
        object[Key.filterCriteria] = filterCriteria.map { .string($0) }
        if isContentMutable { object[Key.isContentMutable] = true }
        if isContentAvailable { object[Key.isContentAvailable] = true }
        object[Key.criticalVolume] = criticalVolume.map { .number($0.description) }
        for (key, text) in [(Key.title, title), (Key.subtitle, subtitle), (Key.body, body)] {
            object[key] = text.map { text in
                [Key.key: .string(text.key), Key.arguments: .array(text.arguments.map { .string($0) })]
            }
        }
        object[Key.launchImage] = launchImage.map { .string($0) }
        object[Key.urlArguments] = urlArguments.map { .array($0.map { .string($0) }) }
        return object
    }

    /// Reads the form that `json` writes.
    package init(stored object: JSONObject) {
        type = object[Key.type]?.string.map { PushType(wire: $0) }
        priority = object[Key.priority]?.int.map { Int($0) }
        collapseID = object[Key.collapseID]?.string
        expiresAt = object[Key.expiresAt]?.int.map { Timestamp(milliseconds: $0) }
        interruptionLevel = object[Key.interruptionLevel]?.string.flatMap { Aps.InterruptionLevel(rawValue: $0) }
        relevanceScore = object[Key.relevanceScore]?.double
        targetContentID = object[Key.targetContentID]?.string
        filterCriteria = object[Key.filterCriteria]?.string
        isContentMutable = object[Key.isContentMutable]?.bool ?? false
        isContentAvailable = object[Key.isContentAvailable]?.bool ?? false
        criticalVolume = object[Key.criticalVolume]?.double
        title = Self.localized(object[Key.title])
        subtitle = Self.localized(object[Key.subtitle])
        body = Self.localized(object[Key.body])
        launchImage = object[Key.launchImage]?.string
        urlArguments = object[Key.urlArguments]?.array?.compactMap(\.string)
    }

    private static func localized(_ json: JSON?) -> Localized? {
        json?[Key.key]?.string.map {
            Localized(key: $0, arguments: json?[Key.arguments]?.array?.compactMap(\.string) ?? [])
        }
    }
}
