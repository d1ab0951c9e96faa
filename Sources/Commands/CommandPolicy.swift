package import Model

/// The operator's settings for commands. A binding's own settings take precedence.
package struct CommandPolicy: Sendable {
    /// How long after its due time a message may be delivered, unless the caller or the binding specifies another period.
    ///
    /// 72 hours: RationalOwl's queueing period (docs/contracts/rationalowl.md#15, `push.ttlHours`).
    package var defaultTimeToLive: Duration
    /// How long this node keeps the slices it passes on in memory before another node may take them.
    package var lease: Duration
    /// Whether slices that are due now are passed on in memory; called once per submission. False while the node drains or its engine is full.
    package var handsOver: @Sendable () -> Bool
    /// The wait that a caller is asked for after a failure of the gateway.
    package var retryAfter: Duration
    /// The vendors whose answer must contain a count even for an audience of everyone; they receive the maintained count of identities.
    package var countedVendors: Set<Vendor>
    /// The vendors whose devices fetch their messages (`InboxVendor`).
    package var inboxVendors: Set<Vendor>
    /// The digest of the text that a message of a dialect shows, for the comparison with messages of other dialects. Nil: no text.
    package var fingerprint: @Sendable (Content, Vendor) -> MessageFingerprint?

    package init(
        defaultTimeToLive: Duration = .seconds(72 * 3600),
        lease: Duration = .seconds(30),
        handsOver: @escaping @Sendable () -> Bool = { true },
        retryAfter: Duration = .seconds(2),
        countedVendors: Set<Vendor> = [],
        inboxVendors: Set<Vendor> = [],
        fingerprint: @escaping @Sendable (Content, Vendor) -> MessageFingerprint? = { _, _ in nil }
    ) {
        self.defaultTimeToLive = defaultTimeToLive
        self.lease = lease
        self.handsOver = handsOver
        self.retryAfter = retryAfter
        self.countedVendors = countedVendors
        self.inboxVendors = inboxVendors
        self.fingerprint = fingerprint
    }
}
