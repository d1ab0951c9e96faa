/// The limits and waits for calls.
package struct WebhookPolicy: Sendable {
    /// 64 concurrent calls. With more, a few dead receivers would use up the node's sockets; with fewer, they would delay the working ones.
    package static let defaultConcurrency = 64

    /// The number of targets in one call to a sender (docs/contracts/rationalowl.md#8.6: flush every second or 100 targets).
    package var targetsPerCall: Int
    /// The number of events in one call to a webhook: as many as a receiver can process within the time of an attempt.
    package var eventsPerCall: Int
    /// 256 KiB per webhook body, because many receivers refuse more. A longer batch is split into several calls; a single event is always sent.
    package var bodyLimitBytes: Int
    /// How often to poll for due subscriptions.
    package var interval: Duration
    package var concurrency: Int
    /// The duration of a subscription's lease. It must exceed an attempt, its DNS lookup and its bookkeeping together; otherwise two nodes would call.
    package var lease: Duration
    /// The waits after consecutive failures; the last one repeats (docs/contracts/rationalowl.md#8.6).
    package var retries: [Duration]
    /// How long a call to a sender is repeated before it is dropped.
    package var giveUpAfter: Duration
    /// How long a call to a webhook is repeated before the webhook is stopped. Three days cover a weekend and are within the retention of the log.
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
