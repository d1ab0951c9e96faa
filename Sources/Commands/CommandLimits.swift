/// The limits for the data that a caller can store. Each states the harm of larger values.
package enum CommandLimits {
    /// 100 commands in one call: they share one transaction, which must stay short.
    package static let commandsPerCall = 100
    /// 1,000 receipts in one report of an upstream: each is a transaction, and the vendor waits.
    package static let receiptsPerReport = 1_000
    /// 20 webhooks per tenant: each of them reads the tenant's whole log.
    package static let webhooksPerTenant = 20
    /// 128 bytes for keys and addresses: they are index columns, and long values bloat every index page.
    package static let keyBytes = 128
    /// 4,096 bytes per device token: the longest token that a push service issues (FCM).
    package static let tokenBytes = 4 * 1024
    /// 256 bytes for names and users: they are shown in lists and are not a place for data.
    package static let nameBytes = 256
    /// 8 KiB of attributes per identity: they are read with every registration.
    package static let attributeBytes = 8 * 1024
    /// 64 tokens of Live Activities per device: each running activity has one, and a device shows a few at a time.
    package static let activityTokens = 64
    /// 100 expected users per call: each is a row of the audit, whose lock the call holds.
    package static let expectedUsersPerCall = 100
    /// 100,000 expected users per app: a back end that never stops must not fill the database.
    package static let expectedUsersPerApp = 100_000
    /// 31 days: a user who is expected for longer is one that anybody may claim.
    package static let expectationAhead: Duration = .seconds(31 * 86_400)
    /// 60 tags per identity (docs/contracts/notificationhubs.md#4): an audience check of an identity reads all of them.
    package static let tagsPerIdentity = 60
    /// 105 system tags in addition: installation, user, platform, the variants marker, a marker for variants only, and a hundred variants.
    package static let systemTagsPerIdentity = 105
    /// 64 KiB of content per message: it is loaded with each of its slices.
    package static let contentBytes = 64 * 1024
    /// 16 KiB of fallback data per message: it is also loaded with each of its slices.
    package static let fallbackBytes = 16 * 1024
    /// 2 MiB per image: it is stored, sent again at every view, and held in memory during that.
    package static let imageBytes = 2 * 1024 * 1024
    /// 2048 bytes per callback URL: the lowest limit of the proxies that calls pass through.
    package static let urlBytes = 2048
    /// 64 bytes per collapse id: APNs refuses longer ones (Apple, "Sending notification requests to APNs").
    package static let collapseBytes = 64
    /// 100 undelivered messages: the answer to an app that is being opened must stay small.
    package static let undeliveredCount = 100
    /// Undelivered messages are listed for three days (docs/contracts/rationalowl.md#15, `retention.undeliveredDays`).
    package static let undeliveredAge: Duration = .seconds(3 * 86_400)
    /// A year ahead: a message due later would need partitions that do not exist yet.
    package static let scheduleAhead: Duration = .seconds(365 * 86_400)
    /// At least one minute: a shorter time to live could end between the commit and the first attempt.
    package static let minimumTimeToLive: Duration = .seconds(60)
    /// At most 28 days: the longest time that a push service stores a message (FCM), and the minimum retention of partitions.
    package static let maximumTimeToLive: Duration = .seconds(28 * 86_400)
    /// Seven days: a device's own time of a receipt is accepted up to this age; an older one indicates a wrong clock.
    package static let receiptAge: Duration = .seconds(7 * 86_400)
    /// 16 bytes per verification code: vendors use four to six digits.
    package static let codeBytes = 16
    /// 1,000 groups or members in one answer, because it is built in memory.
    package static let groupRows = 1000
    /// 101 registrations in one list (a page of a hub plus the first entry of the next page): each comes with its attributes.
    package static let listedRows = 101
    /// 64 KiB per page: a page that a push links to is text, not a file.
    package static let pageBytes = 64 * 1024
    /// A submission may be restricted to 1,000 tokens: each is a lookup in the accepting transaction.
    package static let tokenCount = 1000
    /// At most a day between two steps of a pace: a message expires before the third step.
    package static let paceDelay: Duration = .seconds(86_400)
    /// 600 bytes per label: two names of the maximum length that vendors allow.
    package static let labelBytes = 600
    /// 512 KiB for the stored request of a schedule: fifty recipients, each with the maximum data.
    package static let scheduleBytes = 512 * 1024
    /// 2 labels per message: each is a separate row.
    package static let labelCount = 2
    /// Two repeats after a conflict: a third conflict in a row indicates contention that more repeats would increase.
    package static let conflictRetries = 2
    /// Ten repeats for calls about users, which read before they write: two calls that keep changing the same users conflict repeatedly.
    package static let userRetries = 10
    /// 100 users in one call: each is read with its attributes.
    package static let usersPerCall = 100
    /// 250 attributes per user: they are read and written as a whole.
    package static let userAttributes = 250
    /// 32 KiB of attributes per user, for the same reason.
    package static let userAttributeBytes = 32 * 1024
    /// 16 levels of objects and lists within an attribute: readers recurse into them.
    package static let userAttributeDepth = 16
    /// 100 values in an attribute that is a list (docs/contracts/braze.md#4.4).
    package static let userListCount = 100
    /// 100 consent subjects per user: they are read and written with the user.
    package static let subjectsPerUser = 100
    /// 250 acts per batch: they are one transaction.
    package static let actsPerCall = 250
    /// 1,024 bytes per name of an act: it is an index column.
    package static let actNameBytes = 1024
    /// 64 KiB of data per act: more than the 50 KB of properties that Braze accepts (docs/contracts/braze.md#4.4).
    package static let actBytes = 64 * 1024
    /// In one answer 500 aliases, 100 tallies and 100 devices of each user, because it is built in memory.
    package static let describedAliases = 500
    package static let describedTallies = 100
    package static let describedDevices = 100
    /// The newest 1,000 messages sent to each user: each is a lookup.
    package static let describedMessages = 1000
}
