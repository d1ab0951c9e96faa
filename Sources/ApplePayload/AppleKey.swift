/// Keys of Apple's dictionaries, for code that reads a payload or maps a vendor's names to Apple's.
package enum AppleKey {
    /// The dictionary that the system reads.
    package static let aps = "aps"
    /// The body of an `mdm` push.
    package static let mdm = "mdm"

    package static let alert = "alert"
    package static let badge = "badge"
    package static let sound = "sound"
    package static let contentAvailable = "content-available"
    package static let contentChanged = "content-changed"
    package static let mutableContent = "mutable-content"
    package static let interruptionLevel = "interruption-level"
    package static let relevanceScore = "relevance-score"
    package static let threadID = "thread-id"
    package static let category = "category"
    static let targetContentID = "target-content-id"
    static let filterCriteria = "filter-criteria"

    // Keys of the alert object.
    package static let title = "title"
    package static let subtitle = "subtitle"
    package static let body = "body"
    package static let titleLocKey = "title-loc-key"
    package static let titleLocArguments = "title-loc-args"
    package static let subtitleLocKey = "subtitle-loc-key"
    package static let subtitleLocArguments = "subtitle-loc-args"
    package static let locKey = "loc-key"
    package static let locArguments = "loc-args"
    package static let launchImage = "launch-image"
    /// Read by old systems only.
    package static let actionLocKey = "action-loc-key"

    /// Members of an alert object that are texts.
    static let alertTexts = [
        title, subtitle, body, titleLocKey, subtitleLocKey, locKey, launchImage, actionLocKey,
    ]
    /// Members of an alert object that are lists of texts.
    static let alertArguments = [titleLocArguments, subtitleLocArguments, locArguments]

    // Keys of a Live Activity.
    package static let timestamp = "timestamp"
    package static let event = "event"
    package static let contentState = "content-state"
    package static let attributesType = "attributes-type"
    package static let attributes = "attributes"
}
