package import Model

/// The contexts for which secrets are sealed.
package enum SealContext {
    package static func credential(_ key: CredentialKey) -> String { "credential/\(key.tenant)/\(key.credential)" }

    /// A named secret of a binding.
    static func binding(_ name: String, _ app: AppID, _ tenant: TenantID, _ vendor: Vendor) -> String {
        "binding/\(tenant)/\(app)/\(vendor)/\(name)"
    }

    static func webhook(_ id: WebhookID, _ tenant: TenantID) -> String { "webhook \(tenant) \(id)" }

    static func providerToken(team: String, key: String) -> String { "provider-token/\(team)/\(key)" }
}
