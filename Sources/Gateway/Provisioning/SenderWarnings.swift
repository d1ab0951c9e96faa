import Model

/// Bindings whose sends are refused, unless they carry an API key, because no setting says who may send.
struct SenderWarnings {
    let vendors: VendorCatalog

    /// One sentence for each binding without a setting. An empty `senderNetworks` is a setting: it states that only keys may send.
    func warnings(of file: ProvisioningFile) -> [String] {
        file.tenants.flatMap { tenant in
            tenant.apps.flatMap { app in
                let hasKey = tenant.apiKeys.contains { KeyScopes($0.scopes).maySend(to: nil, of: app.id) }
                return app.bindings.compactMap { warning($0, hasKey: hasKey) }
            }
        }
    }

    private func warning(_ binding: ProvisioningFile.Binding, hasKey: Bool) -> String? {
        guard let form = vendors.byVendor[binding.vendor]?.senders else { return nil }
        let own = form.ownKey?.secret
        if own.map({ binding.secrets[$0] != nil }) ?? false { return nil }
        if binding.settings.keys.contains(where: SenderSettings.names.contains) { return nil }
        let settings = ([SenderSettings.networksKey] + [own].compactMap(\.self) + [SenderSettings.openKey])
            .joined(separator: ", ")
        let keys =
            hasKey ? "that carry no API key with the scope send" : "because the file has no API key with the scope send"
        return "\(binding.path): calls that send are refused \(keys); set one of \(settings) (docs/security.md)"
    }
}
