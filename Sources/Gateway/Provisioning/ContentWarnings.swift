import Model

/// Keys that read messages without their content, which keys with the scope `read` had before the scope `content` existed.
enum ContentWarnings {
    /// One sentence for each key with `read` that neither has `content` nor states that it needs none.
    static func warnings(of file: ProvisioningFile) -> [String] {
        file.tenants.flatMap { tenant in
            tenant.apiKeys.compactMap { key in
                let scopes = KeyScopes(key.scopes)
                guard scopes.apps(.read) != .only([]), scopes.apps(.content) == .only([]), !key.isWithoutContent else {
                    return nil
                }
                return
                    "tenant '\(tenant.id)', API key '\(key.name)': reads messages without titles, texts and data. Add the scope 'content', "
                    + "or 'content: false' to end this warning (docs/security.md)"
            }
        }
    }
}
