package import Model

/// A right that a key of a hub grants.
package enum HubRight: String, Sendable, Hashable, CaseIterable {
    case listen, send, manage
}

/// The settings of a hub's binding: its access rules. Their keys are the binding's secrets.
package struct HubsSettings: Sendable {
    /// The kind of the key that identifies a binding; its value is the hub's name in lower case.
    package static let keyKind = "hub"
    /// The setting that contains the rules: `{"DefaultFullSharedAccessSignature": ["listen", "send", "manage"]}`.
    package static let rulesKey = "rules"
    /// The setting with the hub's name.
    package static let hubKey = "hub"
    /// The setting with the topic of the app, as provisioned for iOS.
    package static let topicKey = "topic"

    /// The names of a rule's secrets, primary key first. There are two, so that keys can be rotated.
    package static func secretNames(of rule: String) -> [String] { ["primary/\(rule)", "secondary/\(rule)"] }

    /// An access rule.
    struct Rule: Sendable {
        var rights: Set<HubRight>
        /// The text of each key.
        var keys: [[UInt8]]
    }

    private let binding: BindingSettings

    package init(_ binding: BindingSettings) { self.binding = binding }

    func rule(_ name: String) -> Rule? {
        guard let rights = binding.values[Self.rulesKey]?[name]?.array else { return nil }
        let named = Set(rights.compactMap { $0.string.flatMap { HubRight(rawValue: $0) } })
        return Rule(
            // Assumed: *manage* includes the other rights; the vendor grants it only together with both (docs/contracts/notificationhubs.md#3.2).
            rights: named.contains(.manage) ? Set(HubRight.allCases) : named,
            keys: Self.secretNames(of: name).compactMap { binding.secrets[$0] }
        )
    }

    /// The rule that signs tokens for devices: the first one with the manage right, by name.
    var signingRule: (name: String, key: [UInt8])? {
        let names = (binding.values[Self.rulesKey]?.object?.pairs ?? []).map(\.key).sorted()
        for name in names {
            if let rule = rule(name), rule.rights.contains(.manage), let key = rule.keys.first { return (name, key) }
        }
        return nil
    }

    /// The hub's name; nil for a binding that was provisioned by an older gateway.
    var hub: String? { binding.values[Self.hubKey]?.string }

    /// Whether a key without the manage right may set users and tags, as at the vendor.
    var listenMayTag: Bool { binding.values["listenMayTag"]?.bool ?? false }

    var backend: BackendSettings { BackendSettings(binding) }

    var topic: String? { binding.values[Self.topicKey]?.string }

    /// The environment of its tokens; nil: production first, and the other if that one rejects the token.
    var environment: PushEnvironment? {
        binding.values["environment"]?.string.flatMap { PushEnvironment(rawValue: $0) }
    }

    package static let declared = VendorSettings([
        IdentitySettings.userMoves,
        VendorSetting(
            "environment",
            "The environment of its tokens: production or sandbox. Default: production, then the other."
        ) {
            $0.string.flatMap { PushEnvironment(rawValue: $0) } != nil
        },
        VendorSetting(
            "listenMayTag",
            default: "false",
            "Whether a key without the right manage, which every app contains, may set users, tags and templates and read tokens."
        ) { $0.bool != nil }
        .risky(
            .high,
            "With the key that every copy of the app contains, anyone can register as any user and read the tokens of others.",
            remedy: "Let the back end issue tokens with POST /v1/apps/{app}/sas; then remove it."
        )
        .refusing("users, tags and templates with a key without the right manage"),
    ])
}

extension HubsAdapter: ProvisionedVendor {
    package var bindingForm: BindingForm {
        BindingForm(
            product: "Azure Notification Hubs",
            fields: [
                .plain("hub", "The hub's name, the first part of every path."),
                .plain("keys[].name", "The name of an access policy. 1 to \(HubsLimits.keyCount) keys."),
                .secret("keys[].value", "Its key. At least \(HubsLimits.keyCharacters) characters."),
                .secret("keys[].secondary", "Its second key. Optional."),
                .plain("keys[].rights", "The rights of the key: listen, send, manage."),
                .plain(
                    "appBackend.prefix",
                    "The path prefix of the tutorials' back end. Default: none, paths begin with /api."
                ),
                .plain("appBackend.users[].name", "A user of that back end."),
                .secret("appBackend.users[].password", "The user's password."),
                .plain("appBackend.acceptsNames", "Whether any name is accepted whose password is the name itself."),
                .plain("appBackend.message", "The text of a rich push that has none."),
                .plain("appBackend.image", "The hash of the image that a rich push shows."),
            ],
            settings: HubsSettings.declared
        )
    }

    package func binding(from source: inout BindingSource) throws(ProvisioningProblem) -> VendorBinding {
        let name = try source.fields.name("hub").lowercased()
        guard !source.reservedSegments.contains(name) else {
            throw ProvisioningProblem(
                path: "\(source.path).hub",
                problem: "'\(name)' is a path that the gateway itself uses"
            )
        }
        var binding = VendorBinding(keys: [.init(HubsSettings.keyKind, name)], settings: source.settings)
        binding.settings[HubsSettings.hubKey] = .string(name)
        try HubKeys.read(&source, into: &binding)
        try BackendBinding.read(&source, into: &binding)
        return binding
    }

    /// Adds the topic of the app, which a hub's answers contain.
    package func complete(_ binding: inout VendorBinding, in context: BindingContext) throws(ProvisioningProblem) {
        binding.settings[HubsSettings.topicKey] = context.topics[.ios].map { .string($0) }
    }
}

/// Reads the access policies of a hub: names and rights become settings, keys become secrets.
private enum HubKeys {
    static func read(_ source: inout BindingSource, into binding: inout VendorBinding) throws(ProvisioningProblem) {
        let list = try source.fields.list("keys")
        guard (1...HubsLimits.keyCount).contains(list.count) else {
            throw ProvisioningProblem(path: "\(source.path).keys", problem: "needs 1 to \(HubsLimits.keyCount) keys")
        }
        var rules = JSONObject()
        for (path, value) in list {
            var key = try StrictFields(value, path: path)
            let name = try key.name("name")
            guard rules[name] == nil else {
                throw ProvisioningProblem(path: path, problem: "name '\(name)' appears twice")
            }
            rules[name] = .array(try rights(&key))
            let values = [
                try source.secrets.secret(&key, "value"), try source.secrets.optionalSecret(&key, "secondary"),
            ]
            for (secretName, value) in zip(HubsSettings.secretNames(of: name), values) {
                guard let value else { continue }
                guard value.utf8.count >= HubsLimits.keyCharacters else {
                    throw ProvisioningProblem(
                        path: path,
                        problem: "a key must have at least \(HubsLimits.keyCharacters) characters"
                    )
                }
                binding.secrets[secretName] = value
            }
            try key.finish()
        }
        binding.settings[HubsSettings.rulesKey] = .object(rules)
    }

    private static func rights(_ key: inout StrictFields) throws(ProvisioningProblem) -> [JSON] {
        var rights: [JSON] = []
        for (path, value) in try key.list("rights") {
            guard let right = value.string.flatMap({ HubRight(rawValue: $0) }) else {
                let known = HubRight.allCases.map(\.rawValue).joined(separator: ", ")
                throw ProvisioningProblem(path: path, problem: "must be one of \(known)")
            }
            rights.append(.string(right.rawValue))
        }
        guard !rights.isEmpty else { throw ProvisioningProblem(path: "\(key.path).rights", problem: "is missing") }
        return rights
    }
}
