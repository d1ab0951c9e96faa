import Crypto
import EngineStore
import FoundationEssentials
import GatewayHTTP
import Model
import NIOConcurrencyHelpers
import Secrets

/// Caches bindings and API keys from PostgreSQL for one second: a frequent caller does not cost two look-ups per call, and a removed key stops working within
/// that second.
final class CachedDirectory: CallDirectory, Sendable {
    /// One second: the maximum time before a change of provisioning takes effect when its notification is lost.
    static let lifetime = Duration.seconds(1)
    /// 50,000 entries. The cache is emptied above this number, so that guessed keys cannot exhaust the memory.
    static let entryLimit = 50_000

    private struct Entry<Value: Sendable> {
        var value: Value?
        var readAt: ContinuousClock.Instant
    }

    private struct State {
        var bindings: [BindingKey: Entry<BoundCall>] = [:]
        var keys: [[UInt8]: Entry<APIKeyGrant>] = [:]
        var uses: [KeyUseKey: Timestamp] = [:]
        /// Incremented by every `forget`. The result of a look-up that began before it is not cached.
        var generation = 0
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
    private let state = NIOLockedValueBox(State())

    init(store: PostgresDirectory, clock: any WallClock, keyRing: KeyRing? = nil, keyAge: Duration? = nil) {
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
        guard let known = state.withLockedValue({ $0.bindings[key] }), .now - known.readAt < Self.lifetime
        else { return nil }
        return .some(known.value)
    }

    func binding(_ key: BindingKey) async throws(StoreError) -> BoundCall? {
        let now = ContinuousClock.now
        let (known, generation) = state.withLockedValue { ($0.bindings[key], $0.generation) }
        if let known, now - known.readAt < Self.lifetime { return known.value }
        let found = try await store.binding(key).map {
            BoundCall(
                tenant: $0.tenant,
                app: $0.app,
                settings: keyRing.map(BindingSecrets.init)?.opened($0.settings, vendor: key.vendor) ?? $0.settings
            )
        }
        state.withLockedValue { state in
            guard state.generation == generation else { return }
            if state.bindings.count >= Self.entryLimit { state.bindings.removeAll(keepingCapacity: true) }
            state.bindings[key] = Entry(value: found, readAt: now)
        }
        return found
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
