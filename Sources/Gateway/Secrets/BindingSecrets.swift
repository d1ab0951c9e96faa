import Foundation
package import Model

/// The secrets of a binding: sealed among its settings while they are stored, beside them in a call.
package struct BindingSecrets {
    /// The setting that holds them, base64 by name.
    package static let key = "sealed"

    private let masterKey: MasterKey

    package init(_ masterKey: MasterKey) { self.masterKey = masterKey }

    private static func context(_ name: String, _ app: AppID, _ tenant: TenantID, _ vendor: Vendor) -> String {
        "binding/\(tenant)/\(app)/\(vendor)/\(name)"
    }

    /// Nil when there are none.
    ///
    /// - Throws: `MasterKeyError`.
    package func sealed(_ secrets: [String: String], of app: AppID, in tenant: TenantID, vendor: Vendor)
        throws(MasterKeyError) -> JSON?
    {
        guard !secrets.isEmpty else { return nil }
        var object = JSONObject()
        for (name, secret) in secrets.sorted(by: { $0.key < $1.key }) {
            let bytes = try masterKey.sealSame(Array(secret.utf8), context: Self.context(name, app, tenant, vendor))
            object[name] = .string(Data(bytes).base64EncodedString())
        }
        return .object(object)
    }

    /// The settings with their secrets open and nothing sealed left. One that does not open is as if it were not there: what needs it is refused.
    package func opened(_ settings: BindingSettings, vendor: Vendor) -> BindingSettings {
        guard let sealed = settings.values[Self.key]?.object, let tenant = settings.tenant, let app = settings.app
        else {
            return settings
        }
        var settings = settings
        settings.values[Self.key] = nil
        for (name, value) in sealed.pairs {
            guard let bytes = value.string.flatMap({ Data(base64Encoded: $0) }) else { continue }
            let context = Self.context(name, app, tenant, vendor)
            settings.secrets[name] = try? masterKey.open(Array(bytes), context: context)
        }
        return settings
    }
}
