/// A vendor whose real service the gateway can call: a credential of kind `upstream-<vendor>` in a provisioning file.
package protocol UpstreamVendor: VendorAdapter {
    /// The fields of the credential, besides its address and its limits.
    var upstreamForm: UpstreamForm { get }

    /// Whether a send of this upstream can only name users, not single devices: all devices of a user then take one path.
    func addressesUsers(_ settings: UpstreamSettings) -> Bool

    /// Whether a send that names users can be limited to their devices of one platform.
    var splitsPlatforms: Bool { get }

    /// Whether receipts of the messages that the vendor sends reach the gateway, once the app's calls do: without them, a migration cannot compare receipts.
    var reportsReceipts: Bool { get }
}

extension UpstreamVendor {
    package func addressesUsers(_ settings: UpstreamSettings) -> Bool { false }
    package var splitsPlatforms: Bool { false }
    package var reportsReceipts: Bool { true }
}

/// The fields of a vendor's upstream credential. `push-gateway vendors` prints them.
package struct UpstreamForm: Sendable, Hashable {
    package struct Field: Sendable, Hashable {
        package enum Kind: Sendable, Hashable {
            /// Given as `<name>Env` or `<name>File`, sealed, never shown.
            case secret
            case text
            /// True or false, with the default.
            case flag(Bool)
        }

        package var name: String
        package var kind: Kind
        package var isRequired: Bool
        package var summary: String

        package static func secret(_ name: String, isRequired: Bool = true, _ summary: String) -> Field {
            Field(name: name, kind: .secret, isRequired: isRequired, summary: summary)
        }
        package static func text(_ name: String, isRequired: Bool = true, _ summary: String) -> Field {
            Field(name: name, kind: .text, isRequired: isRequired, summary: summary)
        }
        package static func flag(_ name: String, default value: Bool, _ summary: String) -> Field {
            Field(name: name, kind: .flag(value), isRequired: false, summary: summary)
        }
    }

    /// An address as the vendor's customers have it, for the documentation.
    package var exampleURL: String
    package var fields: [Field]

    package init(exampleURL: String, fields: [Field]) {
        self.exampleURL = exampleURL
        self.fields = fields
    }
}

/// The fields of one upstream credential. Contains secrets: it is opened for a call, and never stored or logged.
package struct UpstreamSettings: Sendable, Hashable {
    package var vendor: Vendor
    /// By the names of the vendor's form.
    package var secrets: [String: String]
    /// Texts and flags, by the names of the vendor's form.
    package var values: JSONObject

    package init(vendor: Vendor, secrets: [String: String] = [:], values: JSONObject = JSONObject()) {
        self.vendor = vendor
        self.secrets = secrets
        self.values = values
    }
}

/// The kinds of upstream credentials: `upstream-` and the vendor's name.
package enum UpstreamKind {
    private static let prefix = "upstream-"

    /// The kind of a vendor's upstream.
    package static func kind(of vendor: Vendor) -> String { prefix + vendor.rawValue }

    /// The vendor of a kind; nil for a credential of another kind.
    package static func vendor(of kind: String) -> Vendor? {
        kind.hasPrefix(prefix) ? Vendor(String(kind.dropFirst(prefix.count))) : nil
    }
}
