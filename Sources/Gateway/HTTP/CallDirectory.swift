package import Model

/// Whose call a binding's key is.
package struct BoundCall: Sendable, Hashable {
    package var tenant: TenantID
    package var app: AppID
    package var settings: BindingSettings

    package init(tenant: TenantID, app: AppID, settings: BindingSettings) {
        self.tenant = tenant
        self.app = app
        self.settings = settings
    }
}

/// Looks up bindings and API keys. Filled by PostgreSQL's resolvers behind a short-lived cache.
package protocol CallDirectory: Sendable {
    /// What is remembered of a binding, an unknown one as `.some(nil)`; nil: it has to be looked up.
    func remembered(_ key: BindingKey) -> BoundCall??
    /// - Throws: `StoreError` when it cannot be known now.
    func binding(_ key: BindingKey) async throws(StoreError) -> BoundCall?
    /// - Throws: `StoreError` when it cannot be known now.
    func apiKey(_ secret: String) async throws(StoreError) -> APIKeyGrant?
}

/// What an API key permits.
package struct APIKeyGrant: Sendable, Hashable {
    package var tenant: TenantID
    package var name: String
    package var scopes: Set<String>

    package init(tenant: TenantID, name: String, scopes: Set<String>) {
        self.tenant = tenant
        self.name = name
        self.scopes = scopes
    }
}
