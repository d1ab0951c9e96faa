/// The settings of a binding, as documented by its adapter, and the tenant and app of the binding.
package struct BindingSettings: Sendable, Hashable {
    /// Nil when no binding was found.
    package var tenant: TenantID?
    package var app: AppID?
    package var values: JSONObject
    /// The decrypted secrets by name. Only for calls; a payload is written without them.
    package var secrets: [String: [UInt8]] = [:]

    package init(tenant: TenantID? = nil, app: AppID? = nil, values: JSONObject = JSONObject()) {
        self.tenant = tenant
        self.app = app
        self.values = values
    }

    /// The app's setting for sends that reach its other dialects, in the app's provisioning and in the settings of its bindings.
    package static let crossingKey = "crossDialectSends"

    /// Whether sends in the binding's dialect also reach the identities of the app's other dialects.
    package var crossesDialects: Bool { values[Self.crossingKey]?.bool ?? false }

    /// The setting with the first number of messages, for dialects that number them.
    package static let numbersFrom = "numbersFrom"

    /// The settings that apply before a binding is known.
    package static let unbound = BindingSettings()

    /// The value at a dotted path: `compat.profile`, nested or spelled as one key.
    package subscript(path: String) -> JSON? {
        if let flat = values[path] { return flat }
        var value: JSON = .object(values)
        for part in path.split(separator: ".") {
            guard let next = value[String(part)] else { return nil }
            value = next
        }
        return value
    }
}
