/// What is to be shown. Typed, or raw bytes that a caller demands unchanged.
package struct Content: Sendable, Hashable {
    package var title: String?
    package var subtitle: String?
    package var body: String
    package var badge: Int?
    /// The badge that the server counts grows by this, and the push carries what it came to; then `badge` is not read.
    package var badgeStep: Int?
    package var sound: String?
    package var category: String?
    package var threadID: String?
    /// The caller's own keys, delivered beside the vendor's.
    package var data: JSONObject
    /// The image's id within this message, fetched by the app (`imgData`) or linked.
    package var media: MediaReference?
    package var isUrgent: Bool
    /// A background push: nothing shown.
    package var isSilent: Bool
    /// A whole native payload that is sent unchanged; then nothing above is read.
    package var raw: JSON?
    /// What the message says to Apple's push service alone, in the form of `ApplePushOptions`: stored, not interpreted here.
    package var apns: JSONObject?
    /// The Live Activity that it starts, updates or ends; nil: it is for devices themselves.
    package var activity: ActivityReference?
    /// Placeholders in it are filled for each target.
    package var isTemplate = false
    package var page: PageReference?
    /// It is for variants of identities, for those that these terms mean, each of them a target; nil: for identities.
    package var variants: TagTerms?
    /// Whom of those that are meant it is for.
    package var consent = ConsentRule.subscribed

    package init(
        title: String? = nil,
        subtitle: String? = nil,
        body: String = "",
        badge: Int? = nil,
        sound: String? = nil,
        category: String? = nil,
        threadID: String? = nil,
        data: JSONObject = JSONObject(),
        media: MediaReference? = nil,
        isUrgent: Bool = false,
        isSilent: Bool = false,
        raw: JSON? = nil
    ) {
        self.title = title
        self.subtitle = subtitle
        self.body = body
        self.badge = badge
        self.sound = sound
        self.category = category
        self.threadID = threadID
        self.data = data
        self.media = media
        self.isUrgent = isUrgent
        self.isSilent = isSilent
        self.raw = raw
    }
}

/// A Live Activity, or a kind of Live Activities of which one is started. A device reports a token for each.
package struct ActivityReference: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// `name` is the Swift type of the attributes, and the token is a push-to-start token.
        case start
        /// `name` is the app's name of the activity.
        case running
    }

    package var kind: Kind
    package var name: String

    package init(_ kind: Kind, _ name: String) {
        self.kind = kind
        self.name = name
    }
}

/// One message as an adapter needs it to write a payload.
package struct Notification: Sendable, Hashable {
    package var message: MessageID
    /// The dialect the message was submitted in.
    package var origin: Vendor
    package var content: Content
    /// When it was due: the time shown on the device, the same in every retry.
    package var sentAt: Timestamp
    package var expiresAt: Timestamp?
    package var collapseID: String?
    /// What dialects that number messages call it.
    package var numbers: [Vendor: String]

    package init(
        message: MessageID,
        origin: Vendor,
        content: Content,
        sentAt: Timestamp,
        expiresAt: Timestamp? = nil,
        collapseID: String? = nil,
        numbers: [Vendor: String] = [:]
    ) {
        self.numbers = numbers
        self.message = message
        self.origin = origin
        self.content = content
        self.sentAt = sentAt
        self.expiresAt = expiresAt
        self.collapseID = collapseID
    }
}

extension Notification {
    /// The vendor in whose format `target` gets the push: its own, or for a Live Activity Apple's, whatever SDK the app has.
    package func format(for target: TargetFacts) -> Vendor { content.activity == nil ? target.vendor : .native }

    /// What `vendor` calls the message. One that was accepted before the dialect was spoken here has no number: its own id serves.
    package func number(for vendor: Vendor) -> String { numbers[vendor] ?? message.description }
}
