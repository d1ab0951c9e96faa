package import Model

/// The settings of an iPNS binding: a mapping of names found in a customer's trace (docs/contracts/ipns.md#2.3), and the environment of its tokens.
package struct IPNSSettings: Sendable, Hashable {
    /// The time zone of this vendor's times (docs/contracts/ipns.md#2.4). Korea has had no summer time since 1988.
    package static let timeZone = TimeZoneName(stored: "Asia/Seoul")

    /// The setting with the vendor's own app id, which pushes repeat.
    package static let appIDKey = "appId"

    /// Further names of operations, folded. None of them may be `send`, whose sender is checked before the settings are read.
    package var operations: [String: IPNSCall] = [:]
    /// Further names of fields, folded. `APP_ID` identifies the binding, so the binding cannot rename it.
    package var fields: [String: IPNSFields.Key] = [:]
    /// Whether a `DEVICE_ID` alone permits a change of the device's settings, its token and its user at once.
    package var trustsDeviceID = false
    /// The environment of its tokens; nil: production first, and the other if that one rejects the token.
    package var environment: PushEnvironment?

    package init(_ binding: BindingSettings) {
        // Most bindings contain only the app's id.
        if binding.values.count < 2, binding.values[Self.appIDKey] != nil { return }
        for (name, value) in binding["operations"]?.object?.pairs ?? [] {
            guard let operation = value.string.flatMap({ IPNSCall(name: $0) }), operation != .send else { continue }
            operations[IPNSFields.folded(name)] = operation
        }
        for (name, value) in binding["fields"]?.object?.pairs ?? [] {
            guard let key = value.string.flatMap({ IPNSFields.Key(rawValue: $0) }), key != .appID else { continue }
            fields[IPNSFields.folded(name)] = key
        }
        trustsDeviceID = binding["deviceIdAlone"]?.bool ?? false
        environment = binding["environment"]?.string.flatMap { PushEnvironment(rawValue: $0) }
    }

    package static let declared = VendorSettings([
        IdentitySettings.historyScope,
        IdentitySettings.userMoves,
        VendorSetting(
            "operations",
            "The names that a customer's library uses for operations, each with the operation's own name.",
            problem: { problem($0, $1) { IPNSCall(name: $0).map { $0 != .send } ?? false } }
        ),
        VendorSetting(
            "fields",
            "The names that a customer's library uses for fields, each with the field's own name.",
            problem: { problem($0, $1) { IPNSFields.Key(rawValue: $0).map { $0 != .appID } ?? false } }
        ),
        VendorSetting(
            "environment",
            "The environment of its tokens: production or sandbox. Default: production, then the other."
        ) {
            $0.string.flatMap { PushEnvironment(rawValue: $0) } != nil
        },
        VendorSetting(
            "deviceIdAlone",
            default: "false",
            "Whether a DEVICE_ID without the device's token permits updateConfig, and a registration with another token and another user."
        ) { $0.bool != nil }
        .risky(
            .high,
            "Anyone who knows a DEVICE_ID can switch off its push, or take its messages over with another token.",
            remedy: "Remove it; apps then name the device's token."
        )
        .refusing("updateConfig without PUSH_TOKEN, and appRegist of a known DEVICE_ID with another token and user"),
        VendorSetting(
            "outsideWindow",
            default: "suppress",
            "The treatment of a push outside of a device's receiving window: suppress or delay.",
            problem: { hold($1) == nil ? "\($0): must be suppress or delay" : nil }
        ),
        VendorSetting("push.ttlHours", default: "72", "Hours for which a push may wait for its device, 1 to 672.") {
            $0.lenientInt.map { (1...672).contains($0) } ?? false
        },
    ])

    /// The treatment of a message outside a device's window. Default: it is not pushed, and stays in history and polling (docs/contracts/ipns.md#2.6).
    package static func outsideWindow(_ values: JSONObject) -> AppTiming.Hold? {
        guard let value = values["outsideWindow"] else { return .suppress }
        return hold(value)
    }

    private static func hold(_ value: JSON) -> AppTiming.Hold? { value.string.flatMap { AppTiming.Hold(rawValue: $0) } }

    private static func problem(_ key: String, _ value: JSON, accepts: (String) -> Bool) -> String? {
        guard let object = value.object else { return "\(key): must be a mapping" }
        let wrong = object.pairs.first { !($0.value.string.map(accepts) ?? false) }
        return wrong.map { "\(key).\($0.key): not an accepted value" }
    }
}

extension IPNSAdapter: ProvisionedVendor {
    package var bindingForm: BindingForm {
        BindingForm(
            product: "iPNS (iPNG)",
            fields: [.plain("appId", "The app id, which every call sends as APP_ID.")],
            settings: IPNSSettings.declared
        )
    }

    package func binding(from source: inout BindingSource) throws(ProvisioningProblem) -> VendorBinding {
        VendorBinding(
            keys: [.init("app", try source.fields.text(IPNSSettings.appIDKey))],
            settings: source.settings,
            outsideWindow: IPNSSettings.outsideWindow(source.settings)
        )
    }
}
