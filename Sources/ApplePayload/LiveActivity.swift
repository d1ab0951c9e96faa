package import Model

/// The `aps` dictionary of a Live Activity: docs/contracts/apns.md#10.
///
/// Source: Apple, "Starting and updating Live Activities with ActivityKit push notifications" (2026-11).
package struct LiveActivity: Sendable, Hashable {
    /// The event of the activity.
    package enum Event: Sendable, Hashable {
        case start(Start)
        case update
        /// The activity ends, and leaves the screen at `dismissalDate`: at once if that is in the past, within four hours if it is nil.
        case end(dismissalDate: Timestamp? = nil)

        /// The value of `event`.
        package var wireName: String {
            switch self {
            case .start: "start"
            case .update: "update"
            case .end: "end"
            }
        }
    }

    /// The members that only a start has. A start goes to the push-to-start token (iOS 17.2 and later).
    package struct Start: Sendable, Hashable {
        /// `attributes-type`: the name of the Swift type.
        package var attributesType: String
        /// `attributes`: the data that does not change during the activity.
        package var attributes: JSONObject
        /// `input-push-token`: requests a token for updates (iOS 18).
        package var asksForToken: Bool
        /// `input-push-channel`: the channel that updates it (iOS 18; on older systems the activity does not start).
        package var channel: ChannelID?

        package init(
            attributesType: String,
            attributes: JSONObject,
            asksForToken: Bool = false,
            channel: ChannelID? = nil
        ) {
            self.attributesType = attributesType
            self.attributes = attributes
            self.asksForToken = asksForToken
            self.channel = channel
        }
    }

    /// The alert and sound of a change. Unlike in `AlertContent`, each localized text is an object and the sound is inside.
    package struct Alert: Sendable, Hashable {
        package var title: AlertText
        package var body: AlertText
        package var sound: String?

        package init(title: AlertText, body: AlertText, sound: String? = nil) {
            self.title = title
            self.body = body
            self.sound = sound
        }
    }

    package var event: Event
    /// `timestamp`: the device ignores an event that is older than the last one shown. Sent in whole seconds.
    package var timestamp: Timestamp
    /// `content-state`: must decode with a default `JSONDecoder`. Only an end may omit it.
    package var contentState: JSONObject?
    /// `alert`: required for a start only.
    package var alert: Alert?
    /// `stale-date`: when the content becomes out of date.
    package var staleDate: Timestamp?
    /// `relevance-score`: any number; the activity with the highest one is in the Dynamic Island.
    package var relevanceScore: Double?

    package init(
        _ event: Event,
        timestamp: Timestamp,
        contentState: JSONObject? = nil,
        alert: Alert? = nil,
        staleDate: Timestamp? = nil,
        relevanceScore: Double? = nil
    ) {
        self.event = event
        self.timestamp = timestamp
        self.contentState = contentState
        self.alert = alert
        self.staleDate = staleDate
        self.relevanceScore = relevanceScore
    }
}
