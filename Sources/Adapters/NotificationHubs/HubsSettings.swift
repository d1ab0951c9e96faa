package import Model

/// What a key of a hub permits.
package enum HubRight: String, Sendable, Hashable, CaseIterable {
    case listen, send, manage
}

/// A binding of this dialect: its access rules. Their keys are the binding's secrets.
package struct HubsSettings: Sendable {
    /// The kind of the key that leads to a binding; its value is the hub's name in lower case.
    package static let keyKind = "hub"
    /// The setting that has the rules: `{"DefaultFullSharedAccessSignature": ["listen", "send", "manage"]}`.
    package static let rulesKey = "rules"
    /// The setting with the topic of the app, as provisioned for iOS.
    package static let topicKey = "topic"

    /// The secrets of a rule, the one in use first: keys rotate.
    package static func secretNames(of rule: String) -> [String] { ["primary/\(rule)", "secondary/\(rule)"] }

    /// One rule of access.
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

    var backend: BackendSettings { BackendSettings(binding) }

    var topic: String? { binding.values[Self.topicKey]?.string }

    /// Where its tokens belong; nil: production, and the other when that one does not know them.
    var environment: PushEnvironment? {
        binding.values["environment"]?.string.flatMap { PushEnvironment(rawValue: $0) }
    }

    /// What is wrong with `values`, one sentence each, for the operator who provisions them; empty when all is well.
    package static func problems(in values: JSONObject) -> [String] {
        values.pairs.compactMap { key, value in
            switch key {
            case "environment":
                value.string.flatMap { PushEnvironment(rawValue: $0) } == nil ? "\(key): not an accepted value" : nil
            default: "\(key): unknown setting"
            }
        }
    }
}
