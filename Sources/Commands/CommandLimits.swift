/// The bounds of what a caller may put into the store. Each names the harm above it.
package enum CommandLimits {
    /// 100 commands in one call: they share one transaction, which must stay short.
    package static let commandsPerCall = 100
    /// 128 bytes for keys and addresses: they are index columns, and a long one bloats every index page.
    package static let keyBytes = 128
    /// 4,096 bytes of device token: the longest that a push service gives out (FCM).
    package static let tokenBytes = 4 * 1024
    /// 256 bytes for names and users: shown in lists, never a place to store things.
    package static let nameBytes = 256
    /// 8 KiB of attributes per identity: read with every registration.
    package static let attributeBytes = 8 * 1024
    /// 64 tokens of Live Activities per device: each running activity has one, and a device shows a few at a time.
    package static let activityTokens = 64
    /// 60 tags per identity (protocols/azure.md §4): an identity that is looked at for an audience is looked at with all of them.
    package static let tagsPerIdentity = 60
    /// 105 system tags beside them: installation, user, platform, that it has variants or nothing else, and a hundred of those.
    package static let systemTagsPerIdentity = 105
    /// 64 KiB of content per message: it is loaded with each of its slices.
    package static let contentBytes = 64 * 1024
    /// 16 KiB of fallback wishes per message: loaded with each of its slices too.
    package static let fallbackBytes = 16 * 1024
    /// 2 MiB per image: it is stored, sent again at every view, and held in memory while it is.
    package static let imageBytes = 2 * 1024 * 1024
    /// 2048 bytes of callback address: the shortest limit of the proxies that calls pass through.
    package static let urlBytes = 2048
    /// 64 bytes of collapse id: APNs refuses more (Apple, "Sending notification requests to APNs").
    package static let collapseBytes = 64
    /// 100 entries of undelivered messages: the answer to an app that is being opened must stay small.
    package static let undeliveredCount = 100
    /// Three days of undelivered messages (protocols/rationalowl.md §15, `retention.undeliveredDays`).
    package static let undeliveredAge: Duration = .seconds(3 * 86_400)
    /// A year ahead: a message due later would need partitions that nobody has made.
    package static let scheduleAhead: Duration = .seconds(365 * 86_400)
    /// One minute at least: a shorter life could end between the commit and the first try.
    package static let minimumTimeToLive: Duration = .seconds(60)
    /// 28 days at most: the longest that a push service stores (FCM), and the age that partitions are kept for at least.
    package static let maximumTimeToLive: Duration = .seconds(28 * 86_400)
    /// Seven days: a device's own time of a receipt is believed this far back, then its clock is taken for wrong.
    package static let receiptAge: Duration = .seconds(7 * 86_400)
    /// 16 bytes of verification code: vendors use four to six digits.
    package static let codeBytes = 16
    /// 1,000 groups or members in one answer: it is built in memory.
    package static let groupRows = 1000
    /// 101 registrations in one list, a page of a hub and the first of the next: each comes with its attributes.
    package static let listedRows = 101
    /// 64 KiB of a page: what a push links to is text, not a store of files.
    package static let pageBytes = 64 * 1024
    /// 1,000 tokens that a submission is narrowed to: each is a look-up in the accepting transaction.
    package static let tokenCount = 1000
    /// A day between two steps of a pace: a message expires before the third.
    package static let paceDelay: Duration = .seconds(86_400)
    /// 600 bytes of a label: two names of the vendors' longest.
    package static let labelBytes = 600
    /// 512 KiB of what a schedule was made of: fifty recipients with all that may be said to each.
    package static let scheduleBytes = 512 * 1024
    /// 2 labels of a message: each is a row of its own.
    package static let labelCount = 2
    /// Two more tries when another transaction won: a third conflict in a row means contention that more tries would feed.
    package static let conflictRetries = 2
    /// Ten more tries for users, whose calls read before they write: two calls that keep on with the same users change them in turns.
    package static let userRetries = 10
    /// 100 users in one call: each is read with its attributes.
    package static let usersPerCall = 100
    /// 250 attributes of a user: they are read and written whole.
    package static let userAttributes = 250
    /// 32 KiB of a user's attributes, for the same reason.
    package static let userAttributeBytes = 32 * 1024
    /// 16 levels of objects and lists within an attribute: whoever reads them walks down.
    package static let userAttributeDepth = 16
    /// 100 values of a list that is an attribute (protocols/braze.md §4.4).
    package static let userListCount = 100
    /// 100 subjects that a user consents to: they are read and written with the user.
    package static let subjectsPerUser = 100
    /// 250 acts of a batch: they are one transaction.
    package static let actsPerCall = 250
    /// 1,024 bytes of an act's name: it is an index column.
    package static let actNameBytes = 1024
    /// 64 KiB of an act's data: more than the 50 KB of properties that a vendor takes (protocols/braze.md §4.4).
    package static let actBytes = 64 * 1024
    /// 500 aliases in one answer, 100 tallies and 100 devices of each user: it is built in memory.
    package static let describedAliases = 500
    package static let describedTallies = 100
    package static let describedDevices = 100
    /// 1,000 messages of each user, the newest, in what it was sent: each is looked up.
    package static let describedMessages = 1000
}
