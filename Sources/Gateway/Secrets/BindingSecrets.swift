import Foundation
package import Model

/// Seals and opens the secrets of a binding. The stored settings contain them sealed; the settings of a call contain them opened, in a separate property.
package struct BindingSecrets {
    /// The setting that contains the sealed secrets, base64 by name.
    package static let key = "sealed"

    private let keyRing: KeyRing

    package init(_ keyRing: KeyRing) { self.keyRing = keyRing }

    /// Seals secrets; returns nil when there are none.
    ///
    /// - Throws: `MasterKeyError`.
    package func sealed(_ secrets: [String: String], of app: AppID, in tenant: TenantID, vendor: Vendor)
        throws(MasterKeyError) -> JSON?
    {
        guard !secrets.isEmpty else { return nil }
        var object = JSONObject()
        for (name, secret) in secrets.sorted(by: { $0.key < $1.key }) {
            let bytes = try keyRing.sealSame(
                Array(secret.utf8),
                context: SealContext.binding(name, app, tenant, vendor)
            )
            object[name] = .string(Data(bytes).base64EncodedString())
        }
        return .object(object)
    }

    /// Returns the settings with opened secrets, without the sealed ones. A secret that cannot be opened is left out, so that calls that need it are refused.
    package func opened(_ settings: BindingSettings, vendor: Vendor) -> BindingSettings {
        guard let sealed = settings.values[Self.key]?.object, let tenant = settings.tenant, let app = settings.app
        else {
            return settings
        }
        var settings = settings
        settings.values[Self.key] = nil
        for (name, value) in sealed.pairs {
            guard let bytes = value.string.flatMap({ Data(base64Encoded: $0) }) else { continue }
            let context = SealContext.binding(name, app, tenant, vendor)
            settings.secrets[name] = try? keyRing.open(Array(bytes), context: context)
        }
        return settings
    }
}
