package import Logging
package import Model
import NIOConcurrencyHelpers
import Observability

/// The limits of calls of this node: who may call now, and what was counted. The rules are in `LimitState`; this type adds the clock, the lock, the metric and
/// the log. Safe to call from any task.
package final class CallLimiter: Sendable {
    /// One line per limit and minute: a flood of calls must not become a flood of lines.
    static let logPeriod = Duration.seconds(60)

    private struct State {
        var limits = LimitState()
        /// By limit or quota of an app: when the last line was written, and how many calls were refused since.
        var lines: [String: (at: Double, refused: Int)] = [:]
    }

    package let settings: CallLimitSettings
    private let state = NIOLockedValueBox(State())
    private let logger: Logger
    private let now: @Sendable () -> Double

    /// - Parameters:
    ///   - settings: the limits.
    ///   - logger: receives a line per limit and minute.
    ///   - now: seconds from any fixed moment. Nil: those of the system's clock.
    package init(_ settings: CallLimitSettings, logger: Logger, now: (@Sendable () -> Double)? = nil) {
        self.settings = settings
        self.logger = logger
        let start = ContinuousClock.now
        self.now = now ?? { Double((ContinuousClock.now - start).milliseconds) / 1000 }
    }

    /// Whether calls from this address are limited at all.
    package func applies(to address: String?) -> Bool {
        guard settings.isOn else { return false }
        guard !settings.exempt.isEmpty, let ip = address.flatMap({ IPAddress($0)?.unmapped }) else { return true }
        return !settings.exempt.contains { $0.contains(ip) }
    }

    /// The address; nil if calls from it are not limited.
    package func limited(_ address: String?) -> String? { applies(to: address) ? address : nil }

    // MARK: Rates

    /// Takes one token of a limit. `name` belongs to the tenant and the limit: an address, an identity, a user.
    ///
    /// - Returns: nil if there was one, or the limit is off.
    package func take(_ limit: CallLimit, _ name: LimitedName) -> LimitExcess? {
        guard let rate = settings.rates[limit] else { return nil }
        let key = name.key(limit)
        return state.withLockedValue { $0.limits.take(key, rate, at: now()) }.map { LimitExcess(limit, wait: $0) }
    }

    /// Takes tokens for what a call was found to have done.
    package func charge(_ limit: CallLimit, _ name: LimitedName, count: Int = 1) {
        guard let rate = settings.rates[limit] else { return }
        let key = name.key(limit)
        state.withLockedValue { $0.limits.charge(key, rate, count: count, at: now()) }
    }

    /// Returns a token that was not needed.
    package func giveBack(_ limit: CallLimit, _ name: LimitedName) {
        guard let rate = settings.rates[limit] else { return }
        let key = name.key(limit)
        state.withLockedValue { $0.limits.giveBack(key, rate, at: now()) }
    }

    /// Whether a limit has no token left.
    package func excess(_ limit: CallLimit, _ name: LimitedName) -> LimitExcess? {
        guard let rate = settings.rates[limit] else { return nil }
        let key = name.key(limit)
        return state.withLockedValue { $0.limits.wait(key, rate, at: now()) }.map { LimitExcess(limit, wait: $0) }
    }

    // MARK: Known callers

    package func remember(_ name: LimitedName) {
        let key = name.key(nil)
        state.withLockedValue { $0.limits.remember(key, at: now()) }
    }

    package func forget(_ name: LimitedName) {
        let key = name.key(nil)
        state.withLockedValue { $0.limits.forget(key) }
    }

    package func knows(_ name: LimitedName) -> Bool {
        let key = name.key(nil)
        return state.withLockedValue { $0.limits.knows(key, at: now()) }
    }

    // MARK: Proofs

    /// Whether the address has to wait before it may show a proof again, because it, or it with this name of a key, failed too often. A credential that
    /// proved itself in this realm on this node within an hour never waits.
    package func excess(of proof: CallProof, from address: String?, at realm: ProofRealm) -> LimitExcess? {
        let names = ProofNames(proof, address)
        let credential = realm.key(of: proof)
        return state.withLockedValue { state in
            let now = now()
            let waits: [(CallLimit, Double?)] = [
                (.addressProofs, state.limits.proofWait(names.address, at: now)),
                (.nameProofs, names.keyName.flatMap { state.limits.proofWait($0, at: now) }),
            ]
            guard let (limit, wait) = waits.max(by: { $0.1 ?? 0 < $1.1 ?? 0 }), let wait,
                !state.limits.knows(credential, at: now)
            else { return nil }
            return LimitExcess(limit, wait: wait)
        }
    }

    /// Counts a proof that failed.
    package func failed(_ proof: CallProof, from address: String?) {
        let names = ProofNames(proof, address)
        state.withLockedValue { state in
            let now = now()
            if settings.addressFailures > 0 {
                state.limits.fail(names.address, free: settings.addressFailures, at: now)
            }
            if settings.nameFailures > 0, let name = names.keyName {
                state.limits.fail(name, free: settings.nameFailures, at: now)
            }
        }
    }

    /// Remembers a credential that was verified, for this realm only. The failures of its name are forgotten, those of the address are not: others may
    /// share it.
    package func proved(_ proof: CallProof, from address: String?, at realm: ProofRealm) {
        let names = ProofNames(proof, address)
        let credential = realm.key(of: proof)
        state.withLockedValue { state in
            state.limits.remember(credential, at: now())
            if let name = names.keyName { state.limits.forgive(name) }
        }
    }

    // MARK: Reports

    /// Counts a refused call, and logs the first one of each minute.
    package func refused(_ excess: LimitExcess, from address: String?) {
        MetricName.callsLimited.count([("limit", excess.limit.rawValue)])
        let name = "limits.\(excess.limit.rawValue)"
        guard let count = countForLine(name) else { return }
        logger.warning(
            "calls limited",
            metadata: [LogKey.limit: "\(name)", LogKey.count: "\(count)", LogKey.peer: "\(address ?? "?")"]
        )
    }

    /// Counts a call above a limit without a setting.
    package func refused(_ limit: FixedLimit) { MetricName.callsLimited.count([("limit", limit.rawValue)]) }

    /// Counts a call that was refused because a quota of an app or a key is used up, and logs the first one of each minute.
    package func refused(_ quota: Quota, of app: AppID, in tenant: TenantID) {
        MetricName.quotaRefusals.count([("quota", quota.rawValue)])
        guard let count = countForLine("\(quota.rawValue)/\(tenant)/\(app)") else { return }
        logger.warning(
            "quota used up",
            metadata: [
                LogKey.limit: "\(quota.rawValue)", LogKey.tenant: "\(tenant)", LogKey.app: "\(app)",
                LogKey.count: "\(count)",
            ]
        )
    }

    /// Counts a refused call. Returns the number of refused calls since the last line, if a line is due now.
    private func countForLine(_ name: String) -> Int? {
        state.withLockedValue { state -> Int? in
            let now = now()
            // 10,000 apps and limits at most: names of limits are few, and apps are provisioned.
            if state.lines.count >= 10_000 { state.lines.removeAll(keepingCapacity: true) }
            var line = state.lines[name] ?? (at: -.infinity, refused: 0)
            line.refused += 1
            defer { state.lines[name] = line }
            guard now - line.at >= Double(Self.logPeriod.components.seconds) else { return nil }
            defer { line = (at: now, refused: 0) }
            return line.refused
        }
    }
}

/// Names what a limit counts. Only a hash of it is kept, with a seed of this process.
package struct LimitedName: Sendable, Hashable {
    private let hash: Int

    package init(_ parts: String?...) { hash = parts.hashValue }

    private init(bytes: ArraySlice<UInt8>) { hash = bytes.hashValue }

    private init(hash: Int) { self.hash = hash }

    /// The network of an address: an IPv4 address, or the /64 of an IPv6 address, which is what one customer has.
    package static func network(_ address: String?) -> LimitedName {
        guard let ip = address.flatMap({ IPAddress($0)?.unmapped }) else { return LimitedName(address) }
        return LimitedName(bytes: ip.bytes.prefix(ip.isV4 ? 4 : 8))
    }

    func adding(_ part: String) -> LimitedName {
        var hasher = Hasher()
        hasher.combine(hash)
        hasher.combine(part)
        return LimitedName(hash: hasher.finalize())
    }

    /// The key in the tables of a limit; nil stands for the table of known callers.
    func key(_ limit: CallLimit?) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(limit)
        hasher.combine(hash)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}

/// A realm in which credentials are verified (RFC 9110, section 11.5): the native API, or the calls of one kind to one binding. A credential that is right in one
/// realm may be a guess in another.
package struct ProofRealm: Sendable, Hashable {
    package static let native = ProofRealm(name: LimitedName("credential", "native"))
    package static let userTokens = ProofRealm(name: LimitedName("credential", "user tokens"))

    private let name: LimitedName

    private init(name: LimitedName) { self.name = name }

    package init(_ key: BindingKey, _ caller: CallerKind) {
        let kind = caller == .sender ? "sender" : "dialect"
        name = LimitedName("credential", kind, key.vendor.rawValue, key.kind, key.value, key.host)
    }

    fileprivate func key(of proof: CallProof) -> UInt64 { name.adding(proof.credential).key(nil) }
}

/// The keys under which the failures of a proof are counted.
private struct ProofNames {
    let address: UInt64
    /// Nil: the call names no key.
    let keyName: UInt64?

    init(_ proof: CallProof, _ address: String?) {
        let network = LimitedName.network(address)
        self.address = network.key(.addressProofs)
        keyName = proof.keyName.map { network.adding($0).key(.nameProofs) }
    }
}
