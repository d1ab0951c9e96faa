/// The memory of a node about its callers. Pure: keys are hashes, and times are seconds from any fixed moment.
package struct LimitState: Sendable {
    /// 131,072 buckets of 24 bytes: of the addresses, identities, users and phones of several minutes.
    static let bucketLimit = 131_072
    /// 16,384 addresses and names with failed proofs.
    static let failureLimit = 16_384
    /// 131,072 callers that were known at their last call, for an hour: while their address is limited, they need no look-up.
    static let callerLimit = 131_072
    static let callerLifetime = 3600.0

    /// By key: when the bucket is full again. An empty table means that every bucket is full.
    private var buckets: BoundedTable<Double>
    private var failures: BoundedTable<ProofFailures>
    private var callers: BoundedTable<Void>

    package init(
        bucketLimit: Int = LimitState.bucketLimit,
        failureLimit: Int = LimitState.failureLimit,
        callerLimit: Int = LimitState.callerLimit
    ) {
        buckets = BoundedTable(capacity: bucketLimit)
        failures = BoundedTable(capacity: failureLimit)
        callers = BoundedTable(capacity: callerLimit)
    }

    // MARK: Rates

    /// Takes one token.
    ///
    /// - Returns: nil if there was one; otherwise the seconds until there is one.
    package mutating func take(_ key: UInt64, _ rate: CallRate, at now: Double) -> Double? {
        let full = max(now, buckets.value(key, at: now) ?? now) + rate.interval
        let excess = full - now - rate.span
        // The tolerance covers the rounding of sums of intervals.
        guard excess <= rate.interval * 1e-6 else { return excess }
        buckets.set(key, full, expiry: full)
        return nil
    }

    /// Takes tokens that were used already: as many as there are, at most `count`.
    package mutating func charge(_ key: UInt64, _ rate: CallRate, count: Int, at now: Double) {
        let full = max(now, buckets.value(key, at: now) ?? now) + rate.interval * Double(count)
        let bounded = min(full, now + rate.span)
        buckets.set(key, bounded, expiry: bounded)
    }

    /// Returns a token that was not used.
    package mutating func giveBack(_ key: UInt64, _ rate: CallRate, at now: Double) {
        guard let full = buckets.value(key, at: now) else { return }
        buckets.set(key, full - rate.interval, expiry: full - rate.interval)
    }

    /// The seconds until there is a token; nil if there is one now.
    package func wait(_ key: UInt64, _ rate: CallRate, at now: Double) -> Double? {
        let excess = (buckets.value(key, at: now) ?? now) + rate.interval - now - rate.span
        return excess <= rate.interval * 1e-6 ? nil : excess
    }

    // MARK: Proofs

    /// The seconds until the caller may show a proof again; nil if it may now.
    package func proofWait(_ key: UInt64, at now: Double) -> Double? {
        guard let known = failures.value(key, at: now), known.waitsUntil > now else { return nil }
        return known.waitsUntil - now
    }

    /// Counts a failed proof; the first `free` ones cause no wait.
    package mutating func fail(_ key: UInt64, free: Int, at now: Double) {
        var known = failures.value(key, at: now) ?? ProofFailures(at: now)
        known.fail(free: free, at: now)
        failures.set(key, known, expiry: known.expiry)
    }

    /// Forgets the failures of a key, after a proof that holds.
    package mutating func forgive(_ key: UInt64) { failures.remove(key) }

    // MARK: Known callers

    package mutating func remember(_ key: UInt64, at now: Double) {
        callers.set(key, (), expiry: now + Self.callerLifetime)
    }

    package mutating func forget(_ key: UInt64) { callers.remove(key) }

    package func knows(_ key: UInt64, at now: Double) -> Bool { callers.value(key, at: now) != nil }
}

/// The failed proofs of one caller. One failure is forgotten per minute.
struct ProofFailures: Sendable, Hashable {
    /// The first wait; each further failure doubles it. Unit: seconds.
    static let firstWait = 1.0
    /// 15 minutes at most, so that somebody who corrects a key is not kept out for long. Unit: seconds.
    static let longestWait = 900.0
    /// Unit: seconds.
    static let forgetsOneIn = 60.0

    private var count = 0.0
    private var countedAt: Double
    private(set) var waitsUntil = -Double.infinity

    init(at now: Double) { countedAt = now }

    mutating func fail(free: Int, at now: Double) {
        count = max(0, count - (now - countedAt) / Self.forgetsOneIn) + 1
        countedAt = now
        let excess = count - Double(free)
        guard excess > 0 else { return }
        waitsUntil = now + min(Self.longestWait, Self.firstWait * pow2(min(16, excess.rounded(.up) - 1)))
    }

    /// When all failures are forgotten.
    var expiry: Double { max(waitsUntil, countedAt + count * Self.forgetsOneIn) }

    private func pow2(_ exponent: Double) -> Double { Double(1 << Int(exponent)) }
}
