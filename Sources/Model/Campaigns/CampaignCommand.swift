/// Messages that a back end keeps with the gateway: campaigns, from which it sends by name, and schedules, which it may still change.
package enum CampaignCommand: Sendable, Hashable {
    /// Makes it, or writes it anew.
    case put(id: String, name: String, body: JSONObject)
    case find(String)
    /// In the order of ids, from the one behind `after` on.
    case list(after: String?, limit: Int)
    case remove(String)
    /// By the id of its first message, whatever became of it.
    case schedule(MessageID)
    /// Those that are still to come, the next one first.
    case schedules(until: Timestamp?, limit: Int)
    /// Withdraws it, unless it is no longer to come.
    case cancelSchedule(MessageID)
    /// What became of the messages with a label, day by day of when they were due.
    case series(label: String, days: ClosedRange<Int32>)
    /// A name that nobody else was given.
    case makeName
    /// A user opened the app, or (with a campaign) bought something because of it.
    case visit(UserID, campaign: String?)

    /// 1,000 campaigns of an app and dialect: they are texts that people write, and each is kept until it is removed.
    package static let countLimit = 1000
    /// 100 days of a series: each is counted from its deliveries.
    package static let dayLimit = 100
    /// 1,000 rows of one list: it is built in memory.
    package static let rowLimit = 1000
}

/// A message under a name, for who sends it again and again. `body` is in the shape of the dialect.
package struct Campaign: Sendable, Hashable {
    package var id: String
    /// For people.
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

/// What became of the messages of one day.
package struct SeriesDay: Sendable, Hashable {
    /// Since 1970, UTC.
    package var day: Int32
    /// Sent, whatever was reported since.
    package var sent: Int
    package var read: Int
    package var failed: Int
    /// How many were sent something; a device of nobody stands for itself.
    package var users: Int

    package init(day: Int32, sent: Int, read: Int, failed: Int, users: Int) {
        self.day = day
        self.sent = sent
        self.read = read
        self.failed = failed
        self.users = users
    }
}

/// What came of a campaign command.
package enum CampaignReply: Sendable, Hashable {
    case put(isNew: Bool)
    case found(Campaign?)
    case listed([Campaign])
    /// Whether there was something to remove or to withdraw.
    case removed(Bool)
    case schedule(Schedule?)
    case schedules([Schedule])
    /// Only days with deliveries.
    case series([SeriesDay])
    case name(String)
    /// Whether the user is known.
    case visited(Bool)
}
