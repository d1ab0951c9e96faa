/// The provider token of one pool, and when the pool requests another.
///
/// A pure value. The pool calls `ProviderTokenCache`, which decides for all pools of a key whether a new token may be made; this value contains only the state
/// of one pool.
struct PoolToken {
    typealias Instant = ContinuousClock.Instant

    /// Times are computed once, because each push needs them.
    private struct Held {
        let token: ProviderToken
        let madeAt: Instant
        let renewalAt: Instant
        let expiryAt: Instant
        /// Whether APNs has reported it as expired.
        var isStale = false

        init(_ aged: AgedProviderToken, at now: Instant) {
            token = aged.token
            madeAt = now - max(.zero, aged.age)
            renewalAt = madeAt + ProviderTokenAge.renewal
            expiryAt = madeAt + ProviderTokenAge.expiry
        }
    }

    private var held: Held?
    /// Counts tokens, so that a refusal can be attributed to the token of its push.
    private(set) var generation: UInt32 = 0
    /// Whether a look-up is in progress.
    private(set) var isObtaining = false
    /// The earliest time of the next look-up, because the last one failed.
    private(set) var nextTry: Instant?
    /// Look-ups that failed since the last successful one.
    private(set) var failureCount = 0

    /// The token to send with, if there is one.
    var token: ProviderToken? { held?.token }

    /// The token that APNs has reported as expired and that is old enough to be replaced.
    var stale: ProviderToken? { held.flatMap { $0.isStale ? $0.token : nil } }

    /// The age of the token; nil if there is none.
    private func age(at now: Instant) -> Duration? { held.map { max(.zero, $0.madeAt.duration(to: now)) } }

    /// Whether pushes may be sent with it.
    func isUsable(at now: Instant) -> Bool { held.map { !$0.isStale && now < $0.expiryAt } ?? false }

    /// Whether the next token must be requested.
    func isDue(at now: Instant) -> Bool {
        guard !isObtaining, nextTry.map({ $0 <= now }) ?? true else { return false }
        return held.map { $0.isStale || now >= $0.renewalAt } ?? true
    }

    /// A look-up starts.
    mutating func asked() { isObtaining = true }

    /// A token arrived; returns false if it is the current one.
    mutating func obtained(_ aged: AgedProviderToken, at now: Instant) -> Bool {
        isObtaining = false
        nextTry = nil
        failureCount = 0
        let isNew = held?.token != aged.token
        held = Held(aged, at: now)
        if isNew { generation &+= 1 }
        return isNew
    }

    /// No token is available at this moment.
    mutating func failed(_ error: APNsError, at now: Instant, retry: Duration) {
        isObtaining = false
        failureCount += 1
        nextTry = now + max(retry, error.retryAfter ?? .zero)
        // The token is too young to be replaced: continue with it, on a new connection. Pushes that are refused there are deferred.
        if error.code == .tokenTooYoung { held?.isStale = false }
    }

    /// APNs has reported the token of a push as expired. A token that is too young to be replaced is kept; then only the connection is replaced.
    mutating func refused(generation: UInt32, at now: Instant) {
        guard generation == self.generation, let age = age(at: now), age >= ProviderTokenAge.minimum else { return }
        held?.isStale = true
    }

    /// How long until a new token may be made; nil if it may be made at once.
    func timeUntilRenewal(at now: Instant) -> Duration? {
        guard let age = age(at: now), age < ProviderTokenAge.minimum else { return nil }
        return ProviderTokenAge.minimum - age
    }
}
