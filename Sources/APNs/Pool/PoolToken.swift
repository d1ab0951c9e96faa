/// The provider token that one pool sends with, and when it asks for another.
///
/// Pure. The pool asks `ProviderTokenCache`, which decides over all pools of a key whether a new one may be made; here is only what this
/// pool has been told.
struct PoolToken {
    typealias Instant = ContinuousClock.Instant

    /// Times are worked out once: pushes ask for them one by one.
    private struct Held {
        let token: ProviderToken
        let madeAt: Instant
        let renewalAt: Instant
        let expiryAt: Instant
        /// Whether APNs has called it expired.
        var isStale = false

        init(_ aged: AgedProviderToken, at now: Instant) {
            token = aged.token
            madeAt = now - max(.zero, aged.age)
            renewalAt = madeAt + ProviderTokenAge.renewal
            expiryAt = madeAt + ProviderTokenAge.expiry
        }
    }

    private var held: Held?
    /// Counts tokens, so that a refusal can be laid to the one its push left with.
    private(set) var generation: UInt32 = 0
    /// Whether a look-up is under way.
    private(set) var isObtaining = false
    /// No look-up before this: the last one failed.
    private(set) var nextTry: Instant?
    /// Look-ups that failed since the last good one.
    private(set) var failureCount = 0

    /// The token to send with, if there is one.
    var token: ProviderToken? { held?.token }

    /// The token that APNs has called expired and that is old enough to be replaced.
    var stale: ProviderToken? { held.flatMap { $0.isStale ? $0.token : nil } }

    /// How old it is; nil if there is none.
    private func age(at now: Instant) -> Duration? { held.map { max(.zero, $0.madeAt.duration(to: now)) } }

    /// Whether pushes may leave with it.
    func isUsable(at now: Instant) -> Bool { held.map { !$0.isStale && now < $0.expiryAt } ?? false }

    /// Whether it is time to ask for the next one.
    func isDue(at now: Instant) -> Bool {
        guard !isObtaining, nextTry.map({ $0 <= now }) ?? true else { return false }
        return held.map { $0.isStale || now >= $0.renewalAt } ?? true
    }

    /// A look-up starts.
    mutating func asked() { isObtaining = true }

    /// A token came; false if it is the one at hand.
    mutating func obtained(_ aged: AgedProviderToken, at now: Instant) -> Bool {
        isObtaining = false
        nextTry = nil
        failureCount = 0
        let isNew = held?.token != aged.token
        held = Held(aged, at: now)
        if isNew { generation &+= 1 }
        return isNew
    }

    /// None can be had now.
    mutating func failed(_ error: APNsError, at now: Instant, retry: Duration) {
        isObtaining = false
        failureCount += 1
        nextTry = now + max(retry, error.retryAfter ?? .zero)
        // Too young to be replaced: go on with it, on a new connection. What it is refused for then is deferred.
        if error.code == .tokenTooYoung { held?.isStale = false }
    }

    /// APNs has called the token expired with which a push left. One that is too young to be replaced is kept: the connection is new then.
    mutating func refused(generation: UInt32, at now: Instant) {
        guard generation == self.generation, let age = age(at: now), age >= ProviderTokenAge.minimum else { return }
        held?.isStale = true
    }

    /// How long until a new one may be made; nil if that is now.
    func timeUntilRenewal(at now: Instant) -> Duration? {
        guard let age = age(at: now), age < ProviderTokenAge.minimum else { return nil }
        return ProviderTokenAge.minimum - age
    }
}
