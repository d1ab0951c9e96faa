/// A binding's settings: that adapter's documented ones, as provisioned, and whose binding it is.
package struct BindingSettings: Sendable, Hashable {
    /// Nil when no binding was found.
    package var tenant: TenantID?
    package var app: AppID?
    package var values: JSONObject
    /// Unsealed, by name. Only for a call; a payload is written without them.
    package var secrets: [String: [UInt8]] = [:]

    package init(tenant: TenantID? = nil, app: AppID? = nil, values: JSONObject = JSONObject()) {
        self.tenant = tenant
        self.app = app
        self.values = values
    }

    /// What holds before a binding is known.
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
