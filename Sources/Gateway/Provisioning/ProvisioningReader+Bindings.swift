import Model
import Secrets

// Bindings of apps to vendors. The vendor reads the content of a binding; the gateway reads `host` and `settings`, and reports keys that neither has read.
extension ProvisioningReader {
    /// Names that a vendor must not have, because they are first path segments of the gateway's or the vendors' routes.
    static func reservedSegments(_ vendors: VendorCatalog) -> Set<String> {
        let routed = vendors.adapters.flatMap(\.routes).compactMap { route -> String? in
            switch route.path {
            case .exact(let path), .prefix(let path): path.split(separator: "/").first?.lowercased()
            case .suffix, .within: nil
            }
        }
        return Set(routed).union(["v1", "r", "openapi.json", "console"])
    }

    /// - Throws: `ProvisioningProblem`.
    func binding(_ name: String, _ json: JSON, _ path: String) throws(ProvisioningProblem) -> ProvisioningFile.Binding {
        let vendor = Vendor(name)
        guard let provisioned = vendors.provisioned[vendor] else {
            let known = vendors.names { vendors.provisioned[$0] != nil }.joined(separator: ", ")
            throw ProvisioningProblem(path: path, problem: "unknown vendor '\(name)'; use one of \(known)")
        }
        var fields = try StrictFields(json, path: path)
        let host = try fields.optionalText("host")?.lowercased()
        var settings = JSONObject()
        if let value = fields.value("settings") {
            guard let object = value.object else {
                throw ProvisioningProblem(path: "\(path).settings", problem: "must be a mapping")
            }
            settings = object
        }
        let shared = try sharedSettings(&settings, of: provisioned, "\(path).settings")
        if let problem = provisioned.bindingForm.settings.problems(in: settings).first {
            throw ProvisioningProblem(path: "\(path).settings", problem: problem)
        }
        var source = BindingSource(
            fields: fields,
            settings: settings,
            reservedSegments: reservedSegments,
            secrets: self
        )
        var binding = try provisioned.binding(from: &source)
        try source.fields.finish()
        for (key, value) in shared.pairs { binding.settings[key] = value }
        if let own = provisioned.senders?.ownKey?.secret, let key = binding.secrets[own] {
            if SenderSettings(BindingSettings(values: shared)).isOpen {
                throw ProvisioningProblem(
                    path: "\(path).settings.\(SenderSettings.openKey)",
                    problem: "contradicts \(own): remove one of them"
                )
            }
            // As an API key: whoever guesses it sends to everyone.
            if let fault = SecretStrength.fault(of: key) {
                throw ProvisioningProblem(path: "\(path).\(own)", problem: fault)
            }
        }
        return .init(vendor: vendor, path: path, host: host, content: binding)
    }

    /// Removes the settings that all vendors with senders share, and returns them.
    ///
    /// - Throws: `ProvisioningProblem` for a wrong value.
    private func sharedSettings(
        _ settings: inout JSONObject,
        of vendor: any ProvisionedVendor,
        _ path: String
    ) throws(ProvisioningProblem) -> JSONObject {
        guard vendor.senders != nil else { return JSONObject() }
        let shared = JSONObject(
            settings.pairs.filter { SenderSettings.names.contains($0.key) }.map { ($0.key, $0.value) }
        )
        for key in shared.keys { settings[key] = nil }
        if let problem = VendorSettings(SenderSettings.declared).problems(in: shared).first {
            throw ProvisioningProblem(path: path, problem: problem)
        }
        return shared
    }

    /// Applies the vendors' rules that depend on more than one binding.
    ///
    /// - Throws: `ProvisioningProblem` when bindings contradict each other.
    func complete(_ tenants: inout [ProvisioningFile.Tenant]) throws(ProvisioningProblem) {
        let all = tenants.flatMap(\.apps).flatMap(\.bindings)
        for tenant in tenants.indices {
            for app in tenants[tenant].apps.indices {
                let topics = tenants[tenant].apps[app].platforms.mapValues(\.topic)
                for index in tenants[tenant].apps[app].bindings.indices {
                    let binding = tenants[tenant].apps[app].bindings[index]
                    let others = all.filter { $0.vendor == binding.vendor && $0.path != binding.path }
                    let context = BindingContext(
                        path: binding.path,
                        host: binding.host,
                        otherHosts: Set(others.compactMap(\.host)),
                        topics: topics
                    )
                    try vendors.provisioned[binding.vendor]?
                        .complete(&tenants[tenant].apps[app].bindings[index].content, in: context)
                }
            }
        }
    }
}
