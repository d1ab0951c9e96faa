package import Model

/// What an operator may set about commands. A binding's own settings win where they speak of the same thing.
package struct CommandPolicy: Sendable {
    /// How long after its due time a message may still be delivered, unless the caller or the binding says otherwise.
    ///
    /// 72 hours: RationalOwl's queueing period (protocols/rationalowl.md §15, `push.ttlHours`).
    package var defaultTimeToLive: Duration
    /// How long this node holds the slices it hands over in memory before another node may take them.
    package var lease: Duration
    /// Whether slices that are due now are handed over in memory; asked once per submission. False while the node drains or its engine is full.
    package var handsOver: @Sendable () -> Bool
    /// What a caller is told to wait after our own trouble.
    package var retryAfter: Duration
    /// The dialects whose answer must name a count also for everyone: they get the maintained count of identities.
    package var countedVendors: Set<Vendor>
    /// The dialects whose devices ask for their messages (`InboxVendor`).
    package var inboxVendors: Set<Vendor>

    package init(
        defaultTimeToLive: Duration = .seconds(72 * 3600),
        lease: Duration = .seconds(30),
        handsOver: @escaping @Sendable () -> Bool = { true },
        retryAfter: Duration = .seconds(2),
        countedVendors: Set<Vendor> = [],
        inboxVendors: Set<Vendor> = []
    ) {
        self.defaultTimeToLive = defaultTimeToLive
        self.lease = lease
        self.handsOver = handsOver
        self.retryAfter = retryAfter
        self.countedVendors = countedVendors
        self.inboxVendors = inboxVendors
    }
}
