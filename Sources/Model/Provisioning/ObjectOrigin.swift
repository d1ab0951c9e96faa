/// Where an app, a credential or a binding comes from, which alone changes and removes it. The raw value is stored.
package enum ObjectOrigin: String, Sendable, Hashable, CaseIterable {
    /// A provisioning file.
    case file
    /// A call of the native API.
    case api
}
