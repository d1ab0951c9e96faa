import Model

/// Sizes and counts of this dialect.
package enum HubsLimits {
    /// 64 KiB of body: the vendor's own limit of a send (docs/contracts/notificationhubs.md#7), whose 413 callers know.
    package static let bodyBytes = 64 * 1024

    /// 128 KiB of a batch: 1,000 handles of 64 digits, a payload and the heads of both are some 80.
    package static let batchBytes = 128 * 1024
    /// 1,000 handles of a batch (docs/contracts/notificationhubs.md#7.4).
    static let batchCount = 1000
    /// 100 handles are registered by one command, which is one transaction.
    static let handlesPerCommand = 100
    /// 56 days that a handle is kept which no installation has: twice what a send may live, so that its telemetry is there.
    static let handleTime: Duration = .seconds(56 * 86_400)
    /// 70 bytes of a boundary (RFC 2046 §5.1.1).
    static let boundaryBytes = 70
    /// 1 KiB of a part's head: it has two lines.
    static let partHeadBytes = 1024

    /// 8 KiB of body of the tutorial's back end: a registration with 60 tags, or a text that fits a payload.
    static let backendBodyBytes = 8 * 1024

    /// 2,048 bytes of path: an id that is longer could not be an index column.
    static let pathBytes = 2048

    /// 100 parameters of a query are looked at: no call has more than four.
    static let parameterCount = 100

    /// 8 KiB of authorization: a signature of an iOS client repeats the whole URL.
    static let authorizationBytes = 8 * 1024

    /// A signature stays valid for five minutes after its expiry (docs/contracts/notificationhubs.md#3.2): clocks of phones differ.
    static let expiryLeeway: Duration = .seconds(300)

    /// 120 characters of an installation's or a user's id: each is a tag too, and tags end there.
    static let identifierCharacters = 120

    /// 60 tags per installation (docs/contracts/notificationhubs.md#4).
    static let tagCount = 60

    /// 20 templates per installation: each is one more push of a send.
    static let templateCount = 20

    /// 100 tags of all templates of an installation, their names among them: each is a row beside the installation.
    static let templateTagCount = 100

    /// 8 KiB of one expression: an installation has no more.
    static let expressionBytes = 8 * 1024

    /// 100 parts of a composite: each may copy a value of the send.
    static let expressionParts = 100

    /// 120 characters of a property's name (docs/contracts/notificationhubs.md#8).
    static let propertyCharacters = 120

    /// 16 KiB of all texts of one filled template: more could not be a payload, and 8 KiB of template can ask for megabytes.
    static let renderedBytes = 16 * 1024

    /// 200 characters of a template's name (docs/contracts/notificationhubs.md#5).
    static let templateNameCharacters = 200

    /// 1,000 elements, 16 deep, 16 attributes each: a registration has fewer than a hundred.
    static let elementCount = 1000
    static let elementDepth = 16
    static let attributeCount = 16

    /// 100 registrations on a page (docs/contracts/notificationhubs.md#5.5).
    static let pageCount = 100

    /// The id of a deleted registration is remembered for a day (docs/contracts/notificationhubs.md#5.2).
    static let goneFor: Duration = .seconds(86_400)

    /// 64 bytes of a date.
    static let dateBytes = 64

    /// 100 changes in one patch: each copies the document.
    static let changeCount = 100

    /// Thirty minutes: what a send lives that names no end (contract, Decisions).
    static let timeToLive: Duration = .seconds(1800)
    /// One minute at least that a send may wait here, whatever Apple is told: `apns-expiration: 0` must be sent at all.
    static let minimumTimeToLive: Duration = .seconds(60)
    /// 28 days at most, which is what the gateway keeps.
    static let maximumTimeToLive: Duration = .seconds(28 * 86_400)

    /// A schedule begins five minutes ahead at least, and seven days at most (docs/contracts/notificationhubs.md#7.5).
    static let scheduleLead: Duration = .seconds(300)
    static let scheduleAhead: Duration = .seconds(7 * 86_400)

    /// 1,000 users of the tutorial's back end: each is a secret of the binding, unsealed with it.
    package static let userCount = 1000
    /// 256 access rules per hub (docs/contracts/notificationhubs.md#3.2).
    package static let keyCount = 256
    /// 16 characters of a key at least: it is all that protects a hub.
    package static let keyCharacters = 16
}
