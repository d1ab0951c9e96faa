import Model
import Secrets

/// Secrets of bindings that are easy to guess: keys of access rules, passwords of users. They are not refused, because apps and back ends of the vendor have
/// them.
struct SecretWarnings {
    let vendors: VendorCatalog

    /// One sentence for each such secret, with its name only. The dialect's own key of senders is refused instead (`ProvisioningReader`).
    func warnings(of file: ProvisioningFile) -> [String] {
        file.tenants.flatMap(\.apps).flatMap(\.bindings).flatMap { binding -> [String] in
            let own = vendors.byVendor[binding.vendor]?.senders?.ownKey?.secret
            return binding.secrets.filter { $0.key != own }.sorted { $0.key < $1.key }.compactMap { name, secret in
                SecretStrength.fault(of: secret).map { "\(binding.path): the secret '\(name)': \($0)" }
            }
        }
    }
}
