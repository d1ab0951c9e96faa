/// The provider token that one pool sends with, and when it asks for another.
///
/// Pure. The pool asks `ProviderTokenCache`, which decides over all pools of a key whether a new one may be made; here is only what this
/// pool has been told.
struct PoolToken {
    typealias Instant = ContinuousClock.Instant

    private struct Held {
        let token: ProviderToken
        let ageWhenObtained: Duration
        let obtainedAt: Instant
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
    /// The token that APNs has called expired and that is old enough to be replaced.
    private(set) var stale: ProviderToken?

    /// The token to send with, if there is one.
    var token: ProviderToken? { held?.token }

    /// How old it is; nil if there is none.
    func age(at now: Instant) -> Duration? {
        held.map { $0.ageWhenObtained + max(.zero, $0.obtainedAt.duration(to: now)) }
    }

    /// Whether pushes may leave with it.
    func isUsable(at now: Instant) -> Bool {
        guard let held, let age = age(at: now) else { return false }
        return age < ProviderTokenAge.expiry && held.token != stale
    }

    /// Whether it is time to ask for the next one.
    func isDue(at now: Instant) -> Bool {
        guard !isObtaining, nextTry.map({ $0 <= now }) ?? true else { return false }
        return !isUsable(at: now) || (age(at: now) ?? .zero) >= ProviderTokenAge.renewal
    }

    /// A look-up starts.
    mutating func asked() { isObtaining = true }

    /// A token came; false if it is the one at hand.
    mutating func obtained(_ aged: AgedProviderToken, at now: Instant) -> Bool {
        isObtaining = false
        stale = nil
        nextTry = nil
        failureCount = 0
        let isNew = held?.token != aged.token
        held = Held(token: aged.token, ageWhenObtained: max(.zero, aged.age), obtainedAt: now)
        if isNew { generation &+= 1 }
        return isNew
    }

    /// None can be had now.
    mutating func failed(_ error: APNsError, at now: Instant, retry: Duration) {
        isObtaining = false
        failureCount += 1
        nextTry = now + max(retry, error.retryAfter ?? .zero)
        // Too young to be replaced: go on with it, on a new connection. What it is refused for then is deferred.
        if error.code == .tokenTooYoung { stale = nil }
    }

    /// APNs has called the token expired with which a push left. One that is too young to be replaced is kept: the connection is new then.
    mutating func refused(generation: UInt32, at now: Instant) {
        guard generation == self.generation, let held, let age = age(at: now), age >= ProviderTokenAge.minimum else {
            return
        }
        stale = held.token
    }

    /// How long until a new one may be made; nil if that is now.
    func timeUntilRenewal(at now: Instant) -> Duration? {
        guard let age = age(at: now), age < ProviderTokenAge.minimum else { return nil }
        return ProviderTokenAge.minimum - age
    }
}
