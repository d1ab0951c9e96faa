/// How calls are made and repeated.
package struct WebhookPolicy: Sendable {
    /// 64 calls at once: above it a few dead receivers would fill the node's sockets; below it they would hold up the living.
    package static let defaultConcurrency = 64

    /// Targets in one sender's call (docs/contracts/rationalowl.md#8.6: flush every second or 100 targets).
    package var targetsPerCall: Int
    /// Events in one webhook's call: what a receiver can take within an attempt's time.
    package var eventsPerCall: Int
    /// 256 KiB of a webhook's body: many receivers refuse more. A batch that is longer is told in several calls; one event is always told.
    package var bodyLimitBytes: Int
    /// How often subscriptions are looked for.
    package var interval: Duration
    package var concurrency: Int
    /// How long a subscription is ours. Longer than an attempt, its look-up and its bookkeeping together: else two nodes would call.
    package var lease: Duration
    /// The waits after the first, second … failure in a row; the last one repeats (docs/contracts/rationalowl.md#8.6).
    package var retries: [Duration]
    /// How long a sender's call is tried before it is dropped.
    package var giveUpAfter: Duration
    /// How long a webhook's call is tried before the webhook is stopped. Three days: a weekend, and still within what the log keeps.
    package var stopAfter: Duration

    package init(
        targetsPerCall: Int = 100,
        eventsPerCall: Int = 100,
        bodyLimitBytes: Int = 256 << 10,
        interval: Duration = .seconds(1),
        concurrency: Int = WebhookPolicy.defaultConcurrency,
        lease: Duration = .seconds(60),
        retries: [Duration] = [
            .seconds(5), .seconds(30), .seconds(120), .seconds(600), .seconds(3600), .seconds(6 * 3600),
        ],
        giveUpAfter: Duration = .seconds(24 * 3600),
        stopAfter: Duration = .seconds(72 * 3600)
    ) {
        self.targetsPerCall = targetsPerCall
        self.eventsPerCall = eventsPerCall
        self.bodyLimitBytes = bodyLimitBytes
        self.interval = interval
        self.concurrency = concurrency
        self.lease = lease
        self.retries = retries
        self.giveUpAfter = giveUpAfter
        self.stopAfter = stopAfter
    }
}
