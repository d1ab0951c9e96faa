package import Model

/// The tenant, app and settings that belong to a binding's key.
///
/// A class, because each call takes it from the cache and hands it on: a copy of its parts would count a dozen references each time.
package final class BoundCall: Sendable {
    package let tenant: TenantID
    package let app: AppID
    package let settings: BindingSettings
    /// Read once for all calls.
    package let senders: SenderSettings
    /// Nil: the app has no keys for tokens of its users.
    package let userTokens: UserTokenRules?
    /// Nil: the app has no rules, and the gateway serves every call.
    package let routes: BoundRoutes?
    /// Whether devices of the app may have another key for rollouts than the one that calls name (`CallDirectory.firstKeys`).
    package let hasFirstKeys: Bool

    package init(
        tenant: TenantID,
        app: AppID,
        settings: BindingSettings,
        routes: BoundRoutes? = nil,
        hasFirstKeys: Bool = false
    ) {
        self.tenant = tenant
        self.app = app
        self.settings = settings
        self.routes = routes
        self.hasFirstKeys = hasFirstKeys
        senders = SenderSettings(settings)
        userTokens = UserTokenRules(settings)
    }
}

/// Looks up bindings and API keys. The implementation caches the results of PostgreSQL's resolvers for a short time.
package protocol CallDirectory: Sendable {
    /// The cached binding. `.some(nil)`: the cache knows that the key does not exist. Nil: nothing is cached, so a look-up is necessary.
    func remembered(_ key: BindingKey) -> BoundCall??
    /// - Throws: `StoreError` when the store cannot answer now.
    func binding(_ key: BindingKey) async throws(StoreError) -> BoundCall?
    /// The binding that was found last, however long ago, if its app has rules. For proxied calls while the store does not answer.
    func lastKnown(_ key: BindingKey) -> BoundCall?
    /// - Throws: `StoreError` when the store cannot answer now.
    func apiKey(_ secret: String) async throws(StoreError) -> APIKeyGrant?
    /// The hosts that belong to exactly one binding, each with a key of that binding: for calls that name no app.
    ///
    /// - Throws: `StoreError` when the store cannot answer now.
    func hosts() async throws(StoreError) -> [String: BindingKey]
    /// The keys by which rollouts know devices that were imported without their own (docs/routing.md#imported-devices), by their own keys.
    ///
    /// - Throws: `StoreError` when the store cannot answer now.
    func firstKeys(
        of devices: [String],
        _ vendor: Vendor,
        in binding: BoundCall
    ) async throws(StoreError) -> [String: String]
}

extension CallDirectory {
    package func hosts() async throws(StoreError) -> [String: BindingKey] { [:] }

    package func firstKeys(
        of devices: [String],
        _ vendor: Vendor,
        in binding: BoundCall
    ) async throws(StoreError) -> [String: String] { [:] }
}

/// The permissions of an API key.
package struct APIKeyGrant: Sendable, Hashable {
    package var tenant: TenantID
    package var name: String
    package var scopes: KeyScopes
    /// The networks from which the key may be used. Empty: every network.
    package var networks: [AddressRange]
    /// The recipients to whom it may send per UTC day. Nil: any number.
    package var recipientsPerDay: Int?
    /// Nil: it does not expire.
    package var expiresAt: Timestamp?

    package init(
        tenant: TenantID,
        name: String,
        scopes: KeyScopes,
        networks: [AddressRange] = [],
        recipientsPerDay: Int? = nil,
        expiresAt: Timestamp? = nil
    ) {
        self.tenant = tenant
        self.name = name
        self.scopes = scopes
        self.networks = networks
        self.recipientsPerDay = recipientsPerDay
        self.expiresAt = expiresAt
    }

    package var rights: KeyRights {
        KeyRights(scopes: scopes, networks: networks, expiresAt: expiresAt, recipientsPerDay: recipientsPerDay)
    }

    /// Whether the key may be used from an address. Nil: the address is unknown, or it is that of a proxy which did not name its client.
    package func isUsable(from address: IPAddress?) -> Bool {
        networks.isEmpty || address.map { address in networks.contains { $0.contains(address) } } ?? false
    }
}
