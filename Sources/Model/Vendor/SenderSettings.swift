/// The settings of a binding that decide who may send. They are the same for all vendors with calls of kind `.sender`.
package struct SenderSettings: Sendable, Hashable {
    package static let networksKey = "senderNetworks"
    package static let certificatesKey = "senderCertificates"
    package static let openKey = "openSends"
    /// 64 networks per binding: each call without a key is compared with all of them.
    package static let networkLimit = 64
    /// 64 certificates or names per binding.
    package static let certificateLimit = 64

    /// The networks from which calls are accepted without a key.
    package var networks: [AddressRange] = []
    /// The client certificates with which calls are accepted without a key.
    package var certificates: [PeerCertificate.Pattern] = []
    /// Whether anyone may send.
    package var isOpen = false

    package init() {}

    /// Reads the settings of a binding; an invalid value opens nothing.
    package init(_ binding: BindingSettings) {
        networks = binding.values[Self.networksKey].flatMap(Self.networks) ?? []
        certificates = binding.values[Self.certificatesKey].flatMap(Self.certificates) ?? []
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
        VendorSetting(
            certificatesKey,
            "Client certificates whose holders may send without a key: [bank-core.internal, \"sha256:...\"]. Needs tls.client.ca.",
            problem: { name, value in
                certificates(value) == nil
                    ? "\(name): must be a list of at most \(certificateLimit) names, or fingerprints such as sha256:<64 hex digits>"
                    : nil
            }
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

    private static func certificates(_ value: JSON) -> [PeerCertificate.Pattern]? {
        guard let list = value.array, list.count <= certificateLimit else { return nil }
        let patterns = list.compactMap { $0.string.flatMap { PeerCertificate.Pattern($0) } }
        return patterns.count == list.count ? patterns : nil
    }

    private static func networks(_ value: JSON) -> [AddressRange]? {
        guard let list = value.array, list.count <= networkLimit else { return nil }
        let networks = list.compactMap { $0.string.flatMap { AddressRange($0) } }
        return networks.count == list.count ? networks : nil
    }
}
