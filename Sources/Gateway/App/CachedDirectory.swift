import Crypto
import EngineStore
import FoundationEssentials
import GatewayHTTP
import Logging
import Metrics
import Model
import NIOConcurrencyHelpers
import Observability
import Routing
import Secrets

/// Caches bindings and API keys from PostgreSQL for one second: a frequent caller does not cost two look-ups per call, and a removed key stops working within
/// that second.
final class CachedDirectory: CallDirectory, Sendable {
    /// One second: the maximum time before a change of provisioning takes effect when its notification is lost.
    static let lifetime = Duration.seconds(1)
    /// 50,000 entries. The cache is emptied above this number, so that guessed keys cannot exhaust the memory.
    static let entryLimit = 50_000
    /// 10,000 hosts of bindings: calls of further ones are not proxied without their app.
    static let hostLimit = 10_000
    /// 4,000 apps with rules: at most a few hundred kilobytes each, usually one. Above it the rules are read again.
    static let routeLimit = 4000

    private struct Entry<Value: Sendable> {
        var value: Value?
        var readAt: ContinuousClock.Instant
    }

    private struct State {
        var bindings: [BindingKey: Entry<BoundCall>] = [:]
        /// Nil: they have not been read yet.
        var hosts: Entry<[String: BindingKey]>?
        /// Those of apps with rules, whatever their age. Only look-ups change them, because a change of provisioning says nothing about each.
        var routed: [BindingKey: BoundCall] = [:]
        var keys: [[UInt8]: Entry<APIKeyGrant>] = [:]
        /// The rules that were read last for an app. A version never changes, so they are kept until another one is in force.
        var routes: [AppKey: ReadRoutes] = [:]
        var uses: [KeyUseKey: Timestamp] = [:]
        /// Incremented by every `forget`. The result of a look-up that began before it is not cached.
        var generation = 0
    }

    private struct AppKey: Hashable {
        var tenant: TenantID
        var app: AppID
    }

    private struct ReadRoutes {
        var version: Int
        /// Nil: there are none. Without a table if this program cannot read them.
        var routes: BoundRoutes?
        var isUnread = false
    }

    private struct KeyUseKey: Hashable {
        var tenant: TenantID
        var key: UUID
    }

    private let store: PostgresDirectory
    private let clock: any WallClock
    /// Opens the secrets of bindings. Nil: the secrets stay sealed.
    private let keyRing: KeyRing?
    /// The longest time for which a secret of an API key is accepted. Nil: any time.
    private let keyAge: Duration?
    /// Nil: nothing is logged.
    private let logger: Logger?
    private let state = NIOLockedValueBox(State())

    init(
        store: PostgresDirectory,
        clock: any WallClock,
        keyRing: KeyRing? = nil,
        keyAge: Duration? = nil,
        logger: Logger? = nil
    ) {
        self.logger = logger
        self.store = store
        self.clock = clock
        self.keyRing = keyRing
        self.keyAge = keyAge
    }

    /// Drops all entries, because provisioning has changed.
    func forget() {
        state.withLockedValue {
            $0.bindings.removeAll(keepingCapacity: true)
            $0.keys.removeAll(keepingCapacity: true)
            $0.generation += 1
        }
    }

    func remembered(_ key: BindingKey) -> BoundCall?? {
        let now = ContinuousClock.now
        return state.withLockedValue { state -> BoundCall?? in
            guard let known = state.bindings[key], now - known.readAt < Self.lifetime else { return nil }
            return .some(known.value)
        }
    }

    func lastKnown(_ key: BindingKey) -> BoundCall? { state.withLockedValue { $0.routed[key] } }

    /// Read once a second while they are asked for. While the store does not answer, the former list is used.
    func hosts() async throws(StoreError) -> [String: BindingKey] {
        let now = ContinuousClock.now
        let (former, isCurrent) = state.withLockedValue { state -> ([String: BindingKey]?, Bool) in
            guard let known = state.hosts else { return (nil, false) }
            let isCurrent = now - known.readAt < Self.lifetime
            // Other calls use the former list meanwhile.
            if !isCurrent { state.hosts?.readAt = now }
            return (known.value, isCurrent)
        }
        if let former, isCurrent { return former }
        do throws(StoreError) {
            let found = try await store.hosts(limit: Self.hostLimit)
            state.withLockedValue { $0.hosts = Entry(value: found, readAt: now) }
            return found
        } catch {
            guard let former else { throw error }
            return former
        }
    }

    func binding(_ key: BindingKey) async throws(StoreError) -> BoundCall? {
        // The store refuses such a text, and has no key with it.
        if key.value.hasByte(0) || key.host?.hasByte(0) == true { return nil }
        let now = ContinuousClock.now
        let (known, generation) = state.withLockedValue { ($0.bindings[key], $0.generation) }
        if let known, now - known.readAt < Self.lifetime { return known.value }
        let found = try await bound(key)
        state.withLockedValue { state in
            let isCurrent = state.generation == generation
            // Where nothing is remembered, rules that have changed since the look-up began are better than none: the store may be away from now on.
            if isCurrent || state.routed[key] == nil {
                if state.routed.count >= Self.entryLimit { state.routed.removeAll() }
                state.routed[key] = found?.routes == nil ? nil : found
            }
            guard isCurrent else { return }
            if state.bindings.count >= Self.entryLimit { state.bindings.removeAll(keepingCapacity: true) }
            state.bindings[key] = Entry(value: found, readAt: now)
        }
        return found
    }

    private func bound(_ key: BindingKey) async throws(StoreError) -> BoundCall? {
        guard let resolved = try await store.binding(key) else { return nil }
        let settings = keyRing.map(BindingSecrets.init)?.opened(resolved.settings, vendor: key.vendor)
        return BoundCall(
            tenant: resolved.tenant,
            app: resolved.app,
            settings: settings ?? resolved.settings,
            routes: try await routes(resolved),
            hasFirstKeys: resolved.hasFirstKeys
        )
    }

    /// Not cached: few calls name devices under a rollout by device, and each names others.
    func firstKeys(
        of devices: [String],
        _ vendor: Vendor,
        in binding: BoundCall
    ) async throws(StoreError) -> [String: String] {
        try await store.firstKeys(of: devices, vendor, of: binding.app, in: binding.tenant)
    }

    /// The rules in force, which are read and parsed once per version. Nil: the app has none.
    private func routes(_ binding: ResolvedBinding) async throws(StoreError) -> BoundRoutes? {
        guard let version = binding.routeVersion else { return nil }
        let key = AppKey(tenant: binding.tenant, app: binding.app)
        let known = state.withLockedValue { $0.routes[key] }
        let read: ReadRoutes
        if let known, known.version == version {
            read = known
        } else {
            let stored = try await store.rules(version, of: binding.app, in: binding.tenant)
            read = self.read(stored, version: version, key)
            state.withLockedValue { state in
                if state.routes.count >= Self.routeLimit { state.routes.removeAll(keepingCapacity: true) }
                state.routes[key] = read
            }
        }
        // Counted at every look-up, about once a second while the app has calls, so that the metric shows that it lasts.
        if read.isUnread { MetricName.routesUnread.counter().increment() }
        return read.routes
    }

    private func read(_ stored: StoredRules?, version: Int, _ key: AppKey) -> ReadRoutes {
        do throws(ProvisioningProblem) {
            guard let stored else { throw ProvisioningProblem(path: "version", problem: "does not exist") }
            let set = try RouteSet(stored)
            let routes = BoundRoutes(version: version, table: set.table, overlaid: set.overlaidDialect)
            return ReadRoutes(version: version, routes: set.rules.isEmpty ? nil : routes)
        } catch {
            logger?.error(
                "the routes of an app cannot be read; its calls are asked to try again",
                metadata: [
                    LogKey.tenant: "\(key.tenant)", LogKey.app: "\(key.app)", LogKey.version: "\(version)",
                    LogKey.error: "\(error)",
                ]
            )
            return ReadRoutes(version: version, routes: BoundRoutes(version: version, table: nil), isUnread: true)
        }
    }

    func apiKey(_ secret: String) async throws(StoreError) -> APIKeyGrant? {
        let hash = APIKeys.hash(secret)
        let now = ContinuousClock.now
        let (known, generation) = state.withLockedValue { ($0.keys[hash], $0.generation) }
        if let known, now - known.readAt < Self.lifetime { return known.value }
        let resolved = try await store.apiKey(hash: hash)
        let grant = resolved.flatMap(grant)
        state.withLockedValue { state in
            if let resolved, grant != nil {
                state.uses[KeyUseKey(tenant: resolved.tenant, key: resolved.id)] = clock.now()
            }
            guard state.generation == generation else { return }
            if state.keys.count >= Self.entryLimit { state.keys.removeAll(keepingCapacity: true) }
            state.keys[hash] = Entry(value: grant, readAt: now)
        }
        return grant
    }

    /// Nil for a secret that is too old, and for a stored network that this program cannot read: leaving it out would open the key.
    private func grant(_ key: ResolvedKey) -> APIKeyGrant? {
        if let keyAge, key.secretAt + keyAge <= clock.now() { return nil }
        let networks = key.networks.compactMap { AddressRange($0) }
        guard networks.count == key.networks.count else { return nil }
        return APIKeyGrant(
            tenant: key.tenant,
            name: key.name,
            scopes: KeyScopes(key.scopes),
            networks: networks,
            recipientsPerDay: key.recipientsPerDay,
            expiresAt: key.expiresAt
        )
    }

    /// Writes the last uses gathered since the previous call.
    ///
    /// - Throws: `StoreError`. The uses gathered until this call are then lost, so that the stored times of last use are older than they should be.
    func flushUses() async throws(StoreError) {
        let uses = state.withLockedValue { state in
            defer { state.uses = [:] }
            return state.uses
        }
        guard !uses.isEmpty else { return }
        try await store.touch(uses.map { KeyUse(tenant: $0.key.tenant, key: $0.key.key, at: $0.value) })
    }
}
