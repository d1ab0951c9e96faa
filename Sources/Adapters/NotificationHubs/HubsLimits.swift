import Model

/// The sizes and counts of this vendor.
package enum HubsLimits {
    /// 64 KiB per body: the vendor's own limit for a send (docs/contracts/notificationhubs.md#7), whose 413 callers handle.
    package static let bodyBytes = 64 * 1024

    /// 128 KiB per batch: 1,000 handles of 64 digits, a payload and the part headers need about 80.
    package static let batchBytes = 128 * 1024
    /// 1,000 handles per batch (docs/contracts/notificationhubs.md#7.4).
    static let batchCount = 1000
    /// One command, which is one transaction, registers 100 handles.
    static let handlesPerCommand = 100
    /// A handle without an installation is kept for 56 days: twice the maximum time to live of a send, so that the telemetry can find it.
    static let handleTime: Duration = .seconds(56 * 86_400)
    /// 70 bytes per boundary (RFC 2046 §5.1.1).
    static let boundaryBytes = 70
    /// 1 KiB for the headers of a part: it has two lines.
    static let partHeadBytes = 1024

    /// 8 KiB per body for the tutorial's back end: a registration with 60 tags, or a text that fits in a payload.
    static let backendBodyBytes = 8 * 1024

    /// 2,048 bytes per path: a longer id could not be an index column.
    static let pathBytes = 2048

    /// The first 100 parameters of a query are read: no call has more than four.
    static let parameterCount = 100

    /// 8 KiB per authorization header: a signature of an iOS client repeats the whole URL.
    static let authorizationBytes = 8 * 1024

    /// Five minutes: the validity of a signature that the gateway makes for a call to the vendor. The call takes seconds; the rest is for clocks that differ.
    static let signatureTime: Duration = .seconds(300)

    /// A signature stays valid for five minutes after its expiry (docs/contracts/notificationhubs.md#3.2), because the clocks of phones differ.
    static let expiryLeeway: Duration = .seconds(300)

    /// 120 characters for the id of an installation or user: each is also a tag, and tags have this limit.
    static let identifierCharacters = 120

    /// 60 tags per installation (docs/contracts/notificationhubs.md#4).
    static let tagCount = 60

    /// 20 templates per installation: each adds a push to every send.
    static let templateCount = 20

    /// 100 tags for all templates of an installation, including their names: each is an additional row of the installation.
    static let templateTagCount = 100

    /// 8 KiB per expression: an installation has a limit of 8 KiB in total.
    static let expressionBytes = 8 * 1024

    /// 100 parts per composite: each may copy a value of the send.
    static let expressionParts = 100

    /// 120 characters per name of a property (docs/contracts/notificationhubs.md#8).
    static let propertyCharacters = 120

    /// 16 KiB for all texts of a filled template: more could not be a payload, and 8 KiB of template can produce megabytes.
    static let renderedBytes = 16 * 1024

    /// 200 characters per template name (docs/contracts/notificationhubs.md#5).
    static let templateNameCharacters = 200

    /// 1,000 elements, nested 16 deep, with 16 attributes each: a registration has fewer than a hundred.
    static let elementCount = 1000
    static let elementDepth = 16
    static let attributeCount = 16

    /// 100 registrations per page (docs/contracts/notificationhubs.md#5.5).
    static let pageCount = 100

    /// The id of a deleted registration is kept for a day (docs/contracts/notificationhubs.md#5.2).
    static let goneFor: Duration = .seconds(86_400)

    /// 64 bytes per date.
    static let dateBytes = 64

    /// 100 changes in one patch: each copies the document.
    static let changeCount = 100

    /// Thirty minutes: the time to live of a send without an expiry (docs/contracts/notificationhubs.md#7).
    static let timeToLive: Duration = .seconds(1800)
    /// A send may wait in the gateway for at least one minute, whatever expiry Apple receives: a push with `apns-expiration: 0` must still be sent.
    static let minimumTimeToLive: Duration = .seconds(60)
    /// At most 28 days, the time for which the gateway keeps messages.
    static let maximumTimeToLive: Duration = .seconds(28 * 86_400)

    /// A schedule begins between five minutes and seven days ahead (docs/contracts/notificationhubs.md#7.5).
    static let scheduleLead: Duration = .seconds(300)
    static let scheduleAhead: Duration = .seconds(7 * 86_400)

    /// 1,000 users of the tutorial's back end: each is a secret of the binding and is unsealed with it.
    package static let userCount = 1000
    /// 256 access rules per hub (docs/contracts/notificationhubs.md#3.2).
    package static let keyCount = 256
    /// A key has at least 16 characters: it alone protects a hub.
    package static let keyCharacters = 16

    // MARK: The vendor as an upstream

    /// 20 installations per send: the vendor's limit for tags that only `||` joins (docs/contracts/notificationhubs.md#6).
    static let installationsPerSend = 20
    /// 5 installations per send of a template: the vendor's limit for other expressions is six tags, and the template's name is one.
    static let installationsPerTemplate = 5
    /// 112 KiB for the handles of one batch: with a payload and the part headers it stays below `batchBytes`.
    static let handleBytes = 112 * 1024
    /// 4 KiB of an error answer are read: the vendor's have a few hundred bytes.
    static let detailBytes = 4 * 1024
    /// 64 bytes for a reason: it is stored with each delivery.
    static let reasonBytes = 64
    /// 128 bytes for the name of a message at the vendor, which is stored.
    static let referenceBytes = 128
    /// At most one hour until a deferred send is tried again, whatever the vendor asks for.
    static let longestRetry: Duration = .seconds(3600)
}
