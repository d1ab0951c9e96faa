package import Model

/// The rules of one app, as one version states them. No rules: the gateway serves every call and sends every push itself.
package struct RouteRules: Sendable, Hashable {
    package var calls: [CallRule]
    package var deliveries: [DeliveryRule]
    /// The time within which a message of the same text through another entry point counts as the same one. Nil: nothing is compared.
    package var duplicateWindow: Duration?

    package static let none = RouteRules()

    package init(calls: [CallRule] = [], deliveries: [DeliveryRule] = [], duplicateWindow: Duration? = nil) {
        self.calls = calls
        self.deliveries = deliveries
        self.duplicateWindow = duplicateWindow
    }

    package var isEmpty: Bool { self == .none }

    /// The upstreams that the rules name.
    package var upstreams: Set<CredentialID> {
        Set(calls.compactMap(\.upstream) + deliveries.flatMap(\.paths).compactMap(\.upstream))
    }
}

/// The facts about an upstream that rules need.
package struct UpstreamFacts: Sendable, Hashable {
    /// Its dialect.
    package var vendor: Vendor
    /// Whether a send can only name users: the upstream then pushes to all devices of each.
    package var addressesUsers: Bool
    /// Whether a send can be limited to one platform of its users' devices.
    package var splitsPlatforms: Bool

    package init(vendor: Vendor, addressesUsers: Bool = false, splitsPlatforms: Bool = false) {
        self.vendor = vendor
        self.addressesUsers = addressesUsers
        self.splitsPlatforms = splitsPlatforms
    }
}
