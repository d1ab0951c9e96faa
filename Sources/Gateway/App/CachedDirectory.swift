import Crypto
import EngineStore
import FoundationEssentials
import GatewayHTTP
import Model
import NIOConcurrencyHelpers
import Secrets

/// Bindings and API keys from PostgreSQL, remembered for a second, so that a hot caller does not cost two look-ups a call and a removed key is gone at once.
final class CachedDirectory: CallDirectory, Sendable {
    /// One second: the longest a change of provisioning may go unnoticed when its notification is lost.
    static let lifetime = Duration.seconds(1)
    /// 50,000 entries; the cache is dropped above it, so that guessed keys cannot eat the memory.
    static let entryLimit = 50_000

    private struct Entry<Value: Sendable> {
        var value: Value?
        var readAt: ContinuousClock.Instant
    }

    private struct State {
        var bindings: [BindingKey: Entry<BoundCall>] = [:]
        var keys: [[UInt8]: Entry<APIKeyGrant>] = [:]
        var uses: [KeyUseKey: Timestamp] = [:]
        /// Grows with every `forget`: a look-up that began before it is not remembered.
        var generation = 0
    }

    private struct KeyUseKey: Hashable {
        var tenant: TenantID
        var key: UUID
    }

    private let store: PostgresDirectory
    private let clock: any WallClock
    /// Opens the secrets of bindings; nil: they stay closed.
    private let masterKey: MasterKey?
    private let state = NIOLockedValueBox(State())

    init(store: PostgresDirectory, clock: any WallClock, masterKey: MasterKey? = nil) {
        self.store = store
        self.clock = clock
        self.masterKey = masterKey
    }

    /// Drops everything: provisioning changed.
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
                settings: masterKey.map(BindingSecrets.init)?.opened($0.settings, vendor: key.vendor) ?? $0.settings
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
        let grant = resolved.map { APIKeyGrant(tenant: $0.tenant, name: $0.name, scopes: Set($0.scopes)) }
        state.withLockedValue { state in
            if let resolved { state.uses[KeyUseKey(tenant: resolved.tenant, key: resolved.id)] = clock.now() }
            guard state.generation == generation else { return }
            if state.keys.count >= Self.entryLimit { state.keys.removeAll(keepingCapacity: true) }
            state.keys[hash] = Entry(value: grant, readAt: now)
        }
        return grant
    }

    /// Writes the last uses gathered since the last call.
    ///
    /// - Throws: `StoreError`; the uses of this call are then forgotten, which costs nothing but freshness.
    func flushUses() async throws(StoreError) {
        let uses = state.withLockedValue { state in
            defer { state.uses = [:] }
            return state.uses
        }
        guard !uses.isEmpty else { return }
        try await store.touch(uses.map { KeyUse(tenant: $0.key.tenant, key: $0.key.key, at: $0.value) })
    }
}
