import Model

/// The sizes, counts and rates of this vendor. Source: docs/contracts/braze.md#4.3, docs/contracts/braze.md#4.4.
package enum BrazeLimits {
    /// 1 MiB per body (docs/contracts/braze.md#3.9); 75 objects of each kind are far smaller.
    static let bodyBytes = 1024 * 1024

    /// 2,048 bytes per path: the longest path of a call has forty.
    static let pathBytes = 2048

    /// The first 100 parameters of a query are read: no call has more than four.
    static let parameterCount = 100

    /// 50 recipients per call.
    static let recipientCount = 50

    /// 75 elements in each array of a call.
    static let trackCount = 75

    /// 255 characters in a name or text of a user (docs/contracts/braze.md#4.4).
    static let attributeCharacters = 255

    /// At most 100 units of a product. Assumed.
    static let quantity: Int64 = 100

    /// 250 acts per batch: it is one transaction.
    static let actCount = 250

    /// 100 tokens per call: they share one transaction, which must stay short. The vendor names no limit.
    static let tokenCount = 100

    /// 1,912 bytes per payload by the vendor's rule, although APNs accepts more: callers rely on it (docs/contracts/braze.md#6.1).
    static let payloadBytes = 1912

    /// 255 bytes per name in a send: the names are stored with the message.
    static let nameBytes = 255

    /// 20 variations per campaign: each is a separate push, and all are read whenever the campaign is sent.
    static let variationCount = 20

    /// 100 schedules per list. The vendor names no limit.
    static let scheduleCount = 100

    /// 100 users per list of subscription states. The vendor names no limit.
    static let subscriptionUserCount = 100

    /// A series covers 14 days unless the caller specifies another number.
    static let seriesDays: Int32 = 14

    /// 64 bytes per date.
    static let dateBytes = 64

    /// Error texts contain at most 64 characters of a field's name.
    static let expressionCharacters = 64

    /// 28 days, the time for which the gateway keeps a push; the vendor's default is 30 (docs/contracts/braze.md#6.1).
    static let timeToLive: Duration = .seconds(28 * 86_400)

    /// 100 bytes per device id: with a label it forms an alias, which is an index column. The ids of the SDK have 36.
    static let deviceBytes = 100
    /// 1,000 events per call; further events are dropped (docs/contracts/braze.md#3.9).
    static let eventCount = 1000
    /// 64 bytes for the name of an unknown event: it is the key of a counter.
    static let eventNameBytes = 64
    /// 20 names of events that report pushes, and 20 origins of pages: each is compared with every call.
    static let eventNames = 20
    static let origins = 20
    static let originBytes = 255
    /// 50 receipts per call: they share one transaction. No device has more pushes to report at once.
    static let receiptCount = 50
    /// 100 elements in the SDK's `attributes`.
    static let elementCount = 100
    /// For 32 increases per call, repeats are recognised individually; further ones share one repeat key. Each is a transaction.
    static let increaseCount = 32
    /// 40 facts per device, 512 bytes each: an identity may have 8 KiB in total.
    static let factCount = 40
    static let factBytes = 512
    /// 7 KiB for all facts of a device: 8 KiB is the limit for all attributes of an identity.
    static let factsBytes = 7 * 1024
    /// The top 3 levels of an event's data are searched for a push's reference (docs/contracts/braze.md#3.3).
    static let referenceDepth = 3
    /// 3 keys that verify tokens (docs/contracts/braze.md#3.7), 4 KiB each: an RSA key of 16,384 bits has 2,800 bytes.
    static let publicKeys = 3
    static let publicKeyBytes = 4 * 1024
    /// 8 KiB per token: the limit of request headers.
    static let proofBytes = 8 * 1024
    /// A device's clock may be 24 hours ahead of the gateway's (docs/contracts/braze.md#3.9).
    static let clockAhead: Duration = .seconds(86_400)

    /// 8 KiB per audience filter, because it is stored with the message. 8 levels and 50 comparisons: each is evaluated for every user.
    static let filterBytes = 8 * 1024
    static let filterDepth = 8
    static let filterLeaves = 50
    /// 1,000 steps for all patterns of a filter; the most expensive pattern of legal length takes half. Each character of a user's texts may cost this
    /// many steps, for every user, and the thread that writes payloads does nothing else in the meantime.
    static let filterSteps = 1000
    /// 100 years, in days.
    static let filterDays: Int64 = 36_525
    /// A pattern may have 200 characters and 10 nested groups, and is matched against at most 1,024 characters: the cost is at most the product of the
    /// two lengths.
    static let patternCharacters = 200
    static let patternDepth = 10
    static let matchedCharacters = 1024

    /// 128 characters for the explanation of an aborted push (docs/contracts/braze.md#8).
    static let abortCharacters = 128

    /// 4,000 bytes for an `android_push` that is stored for the vendor (docs/contracts/braze.md#4.4).
    static let androidBytes = 4000
    /// 64 KiB of the vendor's answer to a send are read: it has a few hundred bytes.
    static let answerBytes = 64 * 1024
    /// 64 bytes for a reason: it is stored with each delivery.
    static let reasonBytes = 64
    /// 128 bytes for the name of a message at the vendor, which is stored.
    static let referenceBytes = 128
    /// At most one hour until a deferred send is tried again: the longest window of the vendor's limits.
    static let longestRetrySeconds: Int64 = 3600

    /// 256 REST keys per binding: each is a separate entry of the lookup index.
    package static let keyCount = 256
    /// A key has at least 16 characters: it alone protects an app.
    package static let keyCharacters = 16
    /// 256 bytes per key: the vendor's keys have 36.
    package static let keyBytes = 256
    /// A key may be restricted to at most 100 addresses.
    package static let addressCount = 100
}

/// The rate headers of an answer (docs/contracts/braze.md#4.3). Assumed: the limit is reported, not enforced; each call reports a new window.
struct RateBudget: Hashable {
    var limit: Int
    /// Seconds.
    var window: Int64

    /// The budget, per hour, of calls without a budget of their own.
    static let common = RateBudget(limit: 250_000, window: 3600)
    static let track = RateBudget(limit: 3000, window: 3)
    static let export = RateBudget(limit: 250, window: 60)
    /// Shared by deletes, aliases, identifying and merging.
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
