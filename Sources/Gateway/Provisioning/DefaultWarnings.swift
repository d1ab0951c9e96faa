import Model

/// Bindings whose vendor documents calls that the defaults refuse or answer with less, and that do not state the settings about them.
struct DefaultWarnings {
    let vendors: VendorCatalog

    /// One sentence for each binding with such settings. A stated setting, also with its default, ends the warning about it.
    func warnings(of file: ProvisioningFile) -> [String] {
        file.tenants.flatMap(\.apps).flatMap(\.bindings).compactMap { binding in
            guard let settings = vendors.provisioned[binding.vendor]?.bindingForm.settings else { return nil }
            let unstated = settings.unstated(in: binding.settings)
            if unstated.isEmpty { return nil }
            let calls = unstated.map { "\($0.calls) (\($0.setting.name))" }.joined(separator: "; ")
            return
                "\(binding.path): refused by default: \(calls). State the settings, also with their defaults, to end this warning (docs/security.md)"
        }
    }
}
