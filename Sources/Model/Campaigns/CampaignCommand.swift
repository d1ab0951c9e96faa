/// Messages that a back end stores with the gateway: campaigns, which it sends by name, and schedules, which it can still change.
package enum CampaignCommand: Sendable, Hashable {
    /// Creates or replaces the campaign.
    case put(id: String, name: String, body: JSONObject)
    case find(String)
    /// Lists campaigns ordered by id, beginning after `after`.
    case list(after: String?, limit: Int)
    case remove(String)
    /// Finds a schedule by the id of its first message, in any state.
    case schedule(MessageID)
    /// Lists the schedules that are not due yet, the next one first.
    case schedules(until: Timestamp?, limit: Int)
    /// Cancels the schedule unless it is due already.
    case cancelSchedule(MessageID)
    /// Counts the outcomes of the messages with a label for each day on which they were due.
    case series(label: String, days: ClosedRange<Int32>)
    /// Makes a name that was never assigned before.
    case makeName
    /// A user opened the app or, with a campaign, made a purchase because of it.
    case visit(UserID, campaign: String?)

    /// 1,000 campaigns per app and dialect: people write them, and each is kept until it is removed.
    package static let countLimit = 1000
    /// 100 days of a series: the counts are computed from the deliveries of each day.
    package static let dayLimit = 100
    /// 1,000 rows of one list, which is built in memory.
    package static let rowLimit = 1000
}

/// A message that a back end sends repeatedly by its name. `body` has the format of the dialect.
package struct Campaign: Sendable, Hashable {
    package var id: String
    /// A name for display.
    package var name: String
    package var body: JSONObject
    package var createdAt: Timestamp
    package var updatedAt: Timestamp

    package init(id: String, name: String, body: JSONObject, createdAt: Timestamp, updatedAt: Timestamp) {
        self.id = id
        self.name = name
        self.body = body
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }
}

/// The counts of the messages of one day.
package struct SeriesDay: Sendable, Hashable {
    /// The day since 1970, UTC.
    package var day: Int32
    /// The number of sent messages, including those received or read since.
    package var sent: Int
    package var read: Int
    package var failed: Int
    /// The number of users to whom something was sent. A device without a user counts as one.
    package var users: Int

    package init(day: Int32, sent: Int, read: Int, failed: Int, users: Int) {
        self.day = day
        self.sent = sent
        self.read = read
        self.failed = failed
        self.users = users
    }
}

/// The result of a campaign command.
package enum CampaignReply: Sendable, Hashable {
    case put(isNew: Bool)
    case found(Campaign?)
    case listed([Campaign])
    /// Whether the campaign or schedule existed.
    case removed(Bool)
    case schedule(Schedule?)
    case schedules([Schedule])
    /// Contains only days with deliveries.
    case series([SeriesDay])
    case name(String)
    /// Whether the user is known.
    case visited(Bool)
}
