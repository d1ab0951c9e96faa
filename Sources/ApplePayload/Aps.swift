package import Model

/// The `aps` dictionary of every push except Live Activities.
///
/// Source: Apple, "Generating a remote notification" (2026-11). Keys that only old systems read (`summary-arg`, `action-loc-key`) are left out.
package struct Aps: Sendable, Hashable {
    /// The displayed alert.
    package enum Alert: Sendable, Hashable {
        /// Only the body, as a JSON string.
        case text(String)
        /// Title, subtitle and body, each literal or localized.
        case detailed(AlertContent)
        /// The alert object of a caller, with Apple's keys. It is written unchanged if its members have the documented types.
        case dictionary(JSONObject)
    }

    /// The sound that the device plays.
    package enum Sound: Sendable, Hashable {
        /// A sound file of the app, or `default`.
        case named(String)
        /// A critical alert, which plays although the device is muted; it needs an entitlement. `volume` is 0.0 (silent) through 1.0.
        case critical(name: String, volume: Double)
    }

    /// How urgently the system shows the notification.
    package enum InterruptionLevel: String, Sendable, Hashable, CaseIterable {
        case passive, active
        case timeSensitive = "time-sensitive"
        case critical
    }

    /// `alert`.
    package var alert: Alert?
    /// `badge`: the number on the icon; 0 removes it.
    package var badge: Int?
    /// `sound`.
    package var sound: Sound?
    /// `thread-id`: groups notifications.
    package var threadID: String?
    /// `category`: selects the actions to offer.
    package var category: String?
    /// `content-available`: wakes the app in the background.
    package var isContentAvailable: Bool
    /// `mutable-content`: lets the app's service extension change the notification first. It needs an alert.
    package var isContentMutable: Bool
    /// `target-content-id`: the scene to bring to the front.
    package var targetContentID: String?
    /// `interruption-level`.
    package var interruptionLevel: InterruptionLevel?
    /// `relevance-score`: 0.0 through 1.0; the highest leads the summary.
    package var relevanceScore: Double?
    /// `filter-criteria`: the value that a Focus filter evaluates.
    package var filterCriteria: String?
    /// `url-args`: required for Safari website pushes and not allowed for others.
    package var urlArguments: [String]?

    package init(
        alert: Alert? = nil,
        badge: Int? = nil,
        sound: Sound? = nil,
        threadID: String? = nil,
        category: String? = nil,
        isContentAvailable: Bool = false,
        isContentMutable: Bool = false,
        targetContentID: String? = nil,
        interruptionLevel: InterruptionLevel? = nil,
        relevanceScore: Double? = nil,
        filterCriteria: String? = nil,
        urlArguments: [String]? = nil
    ) {
        self.alert = alert
        self.badge = badge
        self.sound = sound
        self.threadID = threadID
        self.category = category
        self.isContentAvailable = isContentAvailable
        self.isContentMutable = isContentMutable
        self.targetContentID = targetContentID
        self.interruptionLevel = interruptionLevel
        self.relevanceScore = relevanceScore
        self.filterCriteria = filterCriteria
        self.urlArguments = urlArguments
    }
}
