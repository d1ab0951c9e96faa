import Model

/// Sizes, counts and rates of this vendor. Source: docs/contracts/braze.md#4.3, docs/contracts/braze.md#4.4.
package enum BrazeLimits {
    /// 1 MiB of body (docs/contracts/braze.md#3.9); 75 objects of each kind are far smaller.
    static let bodyBytes = 1024 * 1024

    /// 2,048 bytes of path: no call's is longer than forty.
    static let pathBytes = 2048

    /// 100 parameters of a query are looked at: no call has more than four.
    static let parameterCount = 100

    /// 50 recipients of a call.
    static let recipientCount = 50

    /// 75 elements of each array of a call.
    static let trackCount = 75

    /// 255 characters of a name or a text of a user (docs/contracts/braze.md#4.4).
    static let attributeCharacters = 255

    /// 100 of a product at most. Assumed.
    static let quantity: Int64 = 100

    /// 250 acts of a batch: it is one transaction.
    static let actCount = 250

    /// 100 tokens of a call: they share one transaction, which must stay short. The vendor names no limit.
    static let tokenCount = 100

    /// 1,912 bytes of payload by the vendor's rule, although APNs accepts more: callers rely on it (docs/contracts/braze.md#6.1).
    static let payloadBytes = 1912

    /// 255 bytes of a send's names: they are kept with the message.
    static let nameBytes = 255

    /// 20 variations of a campaign: each is a push of its own, and all are read whenever it is sent.
    static let variationCount = 20

    /// 100 schedules of a list. The vendor names no limit.
    static let scheduleCount = 100

    /// 100 users of a list of what they said. The vendor names no limit.
    static let subscriptionUserCount = 100

    /// 14 days of a series unless the caller says how many.
    static let seriesDays: Int32 = 14

    /// 64 bytes of a date.
    static let dateBytes = 64

    /// 64 characters of a field's name are told to its caller.
    static let expressionCharacters = 64

    /// 28 days, which is how long the gateway keeps a push; the vendor's own default is 30 (docs/contracts/braze.md#6.1).
    static let timeToLive: Duration = .seconds(28 * 86_400)

    /// 100 bytes of a device's id: it stands in an alias, with a label, and that is an index column. The SDK's own have 36.
    static let deviceBytes = 100
    /// 1,000 events of a call; more are dropped (docs/contracts/braze.md#3.9).
    static let eventCount = 1000
    /// 64 bytes of the name of an event that is not known: it is counted by.
    static let eventNameBytes = 64
    /// 20 names of events that tell of pushes, and 20 origins of pages: each is compared with every call.
    static let eventNames = 20
    static let origins = 20
    static let originBytes = 255
    /// 50 receipts of a call: they share one transaction. A device that has more to tell is telling something else.
    static let receiptCount = 50
    /// 100 elements of `attributes` of the SDK.
    static let elementCount = 100
    /// 32 increases of a call are told apart from each other when they come again; more are known by all of them together. Each is a transaction.
    static let increaseCount = 32
    /// 40 facts of a device, 512 bytes each: all of an identity may have 8 KiB.
    static let factCount = 40
    static let factBytes = 512
    /// 7 KiB of them together: 8 KiB is what an identity may say of itself.
    static let factsBytes = 7 * 1024
    /// 3 levels of an event's data are searched for a push's reference (docs/contracts/braze.md#3.3).
    static let referenceDepth = 3
    /// 3 keys that verify tokens (docs/contracts/braze.md#3.7), 4 KiB each: an RSA key of 16,384 bits has 2,800 bytes.
    static let publicKeys = 3
    static let publicKeyBytes = 4 * 1024
    /// 8 KiB of a token: a head has no more.
    static let proofBytes = 8 * 1024
    /// A device's clock may be 24 hours ahead of ours (docs/contracts/braze.md#3.9).
    static let clockAhead: Duration = .seconds(86_400)

    /// 8 KiB of an audience filter: it travels with the message. 8 levels and 50 questions: each is asked of every user.
    static let filterBytes = 8 * 1024
    static let filterDepth = 8
    static let filterLeaves = 50
    /// 1,000 steps of all patterns of a filter; the costliest that is short enough takes half. Each character of a user's texts may cost so much, for every
    /// user, and who writes payloads does nothing else meanwhile.
    static let filterSteps = 1000
    /// 100 years of days.
    static let filterDays: Int64 = 36_525
    /// 200 characters and 10 groups in each other of a pattern, 1,024 characters of the text that it is held against: at most so many steps times each other.
    static let patternCharacters = 200
    static let patternDepth = 10
    static let matchedCharacters = 1024

    /// 128 characters of an aborted push's explanation (docs/contracts/braze.md#8).
    static let abortCharacters = 128

    /// 256 REST keys per binding: each is looked up by an index of its own.
    package static let keyCount = 256
    /// 16 characters of a key at least: it is all that protects an app.
    package static let keyCharacters = 16
    /// 256 bytes of a key: the vendor's have 36.
    package static let keyBytes = 256
    /// 100 addresses that a key may be used from.
    package static let addressCount = 100
}

/// The rate headers of an answer (docs/contracts/braze.md#4.3). Assumed: the limit is reported, not enforced; each call sees a fresh window.
struct RateBudget: Hashable {
    var limit: Int
    /// Seconds.
    var window: Int64

    /// Whatever has no budget of its own, per hour.
    static let common = RateBudget(limit: 250_000, window: 3600)
    static let track = RateBudget(limit: 3000, window: 3)
    static let export = RateBudget(limit: 250, window: 60)
    /// Deletes, aliases, identifying and merging share it.
    static let identity = RateBudget(limit: 20_000, window: 60)

    static let subscription = RateBudget(limit: 5000, window: 60)

    static func of(_ path: String) -> RateBudget {
        switch path {
        case "/users/track": track
        case "/users/export/ids": export
        case "/users/delete", "/users/alias/new", "/users/identify", "/users/merge": identity
        case "/subscription/status/set", "/v2/subscription/status/set": subscription
        default: common
        }
    }
}
