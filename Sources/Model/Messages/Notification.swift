/// The content of a message: typed fields, or raw bytes that are sent unchanged.
package struct Content: Sendable, Hashable {
    package var title: String?
    package var subtitle: String?
    package var body: String
    package var badge: Int?
    /// The badge that the server counts grows by this, and the push contains the result. `badge` is ignored then.
    package var badgeStep: Int?
    package var sound: String?
    package var category: String?
    package var threadID: String?
    /// The caller's own keys, which are delivered together with the vendor's.
    package var data: JSONObject
    /// The image of the message, which the app fetches (`imgData`) or links to.
    package var media: MediaReference?
    package var isUrgent: Bool
    /// A background push, which shows nothing.
    package var isSilent: Bool
    /// A complete native payload that is sent unchanged. All fields above are ignored then.
    package var raw: JSON?
    /// Options for Apple's push service only, in the form of `ApplePushOptions`. They are stored, and not interpreted here.
    package var apns: JSONObject?
    /// The Live Activity that the message starts, updates or ends; nil if the message is for the devices themselves.
    package var activity: ActivityReference?
    /// Whether placeholders are filled in for each target.
    package var isTemplate = false
    package var page: PageReference?
    /// The targets are the variants of identities that match these terms. Nil: the targets are identities.
    package var variants: TagTerms?
    /// Restricts the audience by the consent of its users.
    package var consent = ConsentRule.subscribed
    /// Identities below this level do not get the message.
    package var minAssurance = Assurance.claimed
    /// The campaign under which the message is counted, as its sender names it.
    package var campaign: String?
    /// The part of the campaign, such as one of two texts that are compared.
    package var campaignVariant: String?

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

/// One message with the data that an adapter needs to write a payload.
package struct Notification: Sendable, Hashable {
    package var message: MessageID
    /// The dialect in which the message was submitted.
    package var origin: Vendor
    package var content: Content
    /// When the message was due: the time that the device shows, the same in every retry.
    package var sentAt: Timestamp
    package var expiresAt: Timestamp?
    package var collapseID: String?
    /// The numbers of the message in the dialects that number messages.
    package var numbers: [Vendor: String]
    /// The request for the vendor's fallback, in the format of the adapter of `origin`. Only for a send through an upstream; nil: none.
    package var fallback: JSON?
    /// The image of `content.media`. Only for a send through an upstream; nil: the message has none, or its bytes are not known.
    package var image: InlineImage?

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
    /// The vendor in whose format `target` gets the push. For a Live Activity this is Apple's format, for any SDK of the app.
    package func format(for target: TargetFacts) -> Vendor { content.activity == nil ? target.vendor : .native }

    /// The number of the message in the dialect `vendor`. A message that was accepted before the app had the dialect has no number, so its own id is used.
    package func number(for vendor: Vendor) -> String { numbers[vendor] ?? message.description }
}
