/// The limits and waits for calls.
package struct WebhookPolicy: Sendable {
    /// 64 concurrent calls. With more, a few dead receivers would use up the node's sockets; with fewer, they would delay the working ones.
    package static let defaultConcurrency = 64
    /// 32 concurrent calls of one tenant, and 16 to one host: the slow receivers of one tenant or one provider leave calls for the others.
    package static let defaultTenantCalls = 32
    package static let defaultHostCalls = 16
    /// 8 parallel calls to one webhook in the order of devices: enough to hide the receiver's network delay, and few enough that one webhook does not
    /// use up the calls of a node.
    package static let defaultLanes = 8

    /// The number of targets in one call to a sender (docs/contracts/rationalowl.md#8.6: flush every second or 100 targets).
    package var targetsPerCall: Int
    /// The number of events in one call to a webhook: as many as a receiver can process within the time of an attempt.
    package var eventsPerCall: Int
    /// 256 KiB per webhook body, because many receivers refuse more. A longer batch is split into several calls; a single event is always sent.
    package var bodyLimitBytes: Int
    /// The greatest number of parallel calls to one webhook in the order of devices.
    package var lanes: Int
    /// 1,000 events in one of these calls, and 1 MiB: their receivers chose large calls when they chose the order.
    package var eventsPerLaneCall: Int
    package var laneBodyLimitBytes: Int
    /// 4 calls of a lane, one after another, before the cursor moves: with an attempt of 10 s each they end within the lease.
    package var callsPerLane: Int
    /// How often to poll for due subscriptions.
    package var interval: Duration
    package var concurrency: Int
    /// The greatest number of concurrent calls of one tenant, and to one host.
    package var tenantCalls: Int
    package var hostCalls: Int
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
        lanes: Int = WebhookPolicy.defaultLanes,
        interval: Duration = .seconds(1),
        concurrency: Int = WebhookPolicy.defaultConcurrency,
        tenantCalls: Int = WebhookPolicy.defaultTenantCalls,
        hostCalls: Int = WebhookPolicy.defaultHostCalls,
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
        self.lanes = lanes
        self.eventsPerLaneCall = 1000
        self.laneBodyLimitBytes = 1 << 20
        self.callsPerLane = 4
        self.interval = interval
        self.concurrency = concurrency
        self.tenantCalls = tenantCalls
        self.hostCalls = hostCalls
        self.lease = lease
        self.retries = retries
        self.giveUpAfter = giveUpAfter
        self.stopAfter = stopAfter
    }
}
