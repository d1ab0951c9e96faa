/// The settings of a binding that decide who may send. They are the same for all vendors with calls of kind `.sender`.
package struct SenderSettings: Sendable, Hashable {
    package static let networksKey = "senderNetworks"
    package static let openKey = "openSends"
    /// 64 networks per binding: each call without a key is compared with all of them.
    package static let networkLimit = 64

    /// The networks from which calls are accepted without a key.
    package var networks: [AddressRange] = []
    /// Whether anyone may send.
    package var isOpen = false

    package init() {}

    /// Reads the settings of a binding; an invalid value opens nothing.
    package init(_ binding: BindingSettings) {
        networks = binding.values[Self.networksKey].flatMap(Self.networks) ?? []
        isOpen = binding.values[Self.openKey]?.bool ?? false
    }

    package static let declared: [VendorSetting] = [
        VendorSetting(
            networksKey,
            "Networks whose back ends may send without a key: [10.0.0.0/8]. An empty list states that only keys may send.",
            problem: { name, value in
                networks(value) == nil
                    ? "\(name): must be a list of at most \(networkLimit) networks like 10.0.0.0/8" : nil
            }
        )
        .risky(
            .high,
            "Every address is in the list, so that anyone who has a copy of an app can send to all its users.",
            remedy: "List the networks of the back ends only.",
            when: { $0.flatMap(networks)?.contains { $0.prefixLength == 0 } ?? false }
        ),
        VendorSetting(openKey, default: "false", "Whether anyone may send, also without a key.") { $0.bool != nil }
            .risky(
                .high,
                "Anyone who has a copy of an app can send to all its users.",
                remedy: "Give the back ends API keys, or list their networks in \(networksKey); then remove it."
            ),
    ]

    /// The names of the settings.
    package static let names: Set<String> = Set(declared.map(\.name))

    private static func networks(_ value: JSON) -> [AddressRange]? {
        guard let list = value.array, list.count <= networkLimit else { return nil }
        let networks = list.compactMap { $0.string.flatMap { AddressRange($0) } }
        return networks.count == list.count ? networks : nil
    }
}
