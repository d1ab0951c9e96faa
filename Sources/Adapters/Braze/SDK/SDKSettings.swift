import Model

/// The settings of a binding for SDK calls.
struct SDKSettings {
    private let values: JSONObject

    init(_ binding: BindingSettings) { values = binding.values }

    /// False unless the operator enables it: the licence of the vendor's SDK determines whether an app may keep it (docs/contracts/braze.md#0.2).
    var isEnabled: Bool { values["sdkEnabled"] == true }

    /// Names of events that report an opened push. The names that the vendor's SDKs send are not public. Assumed: `pc`
    /// (docs/contracts/braze.md#3.3).
    var openEvents: Set<String> { names("openEvents") ?? ["pc"] }
    /// Names of events that report a received push. None is public.
    var receivedEvents: Set<String> { names("receivedEvents") ?? [] }

    /// Whether pages of `origin` may read answers.
    func allows(_ origin: String) -> Bool {
        let origins = (values["origins"]?.array ?? []).compactMap(\.string)
        return origins.contains(origin) || origins.contains("*")
    }

    var authentication: SDKAuthentication.Mode {
        values["authentication"]?.string.flatMap(SDKAuthentication.Mode.init) ?? .disabled
    }

    /// Whether a call with the proof of another user takes a device over if it contains the device's push token.
    var switchesByToken: Bool { values["switchByToken"] == true }

    /// The PEM keys that verify the tokens of the app's back end.
    var publicKeys: [String] { (values["publicKeys"]?.array ?? []).compactMap(\.string) }

    private func names(_ key: String) -> Set<String>? { values[key]?.array.map { Set($0.compactMap(\.string)) } }

    static let declared = VendorSettings([
        IdentitySettings.userMoves,
        VendorSetting(
            "sdkEnabled",
            default: "false",
            "Whether calls of the vendor's SDK are answered; whether an app may keep the SDK is a question of its licence.",
            problem: { $1.bool == nil ? "\($0): must be true or false" : nil }
        )
        .refusing("all calls of the vendor's SDK"),
        VendorSetting(
            "openEvents",
            default: "[pc]",
            "Names of SDK events that report an opened push.",
            problem: events
        ),
        VendorSetting(
            "receivedEvents",
            default: "[]",
            "Names of SDK events that report a received push.",
            problem: events
        ),
        VendorSetting(
            "origins",
            default: "[]",
            "Origins of web pages that may read answers; '*' permits all.",
            problem: {
                texts($1, BrazeLimits.origins, BrazeLimits.originBytes)
                    ? nil : "\($0): must list at most \(BrazeLimits.origins) origins, such as https://shop.example"
            }
        )
        .risky(
            .low,
            "The page of any site can make a browser register and report for this app.",
            remedy: "List the origins of the app's own pages.",
            when: { $0?.array?.contains("*") ?? false }
        ),
        VendorSetting(
            "authentication",
            default: "disabled",
            "Whether SDK calls of known users need a token of the app's back end: disabled, optional or required.",
            problem: {
                $1.string.flatMap(SDKAuthentication.Mode.init) == nil
                    ? "\($0): must be disabled, optional or required" : nil
            }
        )
        .risky(
            .medium,
            "With a copy of the app, anyone can register a device as any user and get the messages to that user.",
            remedy: "Set it to required, with publicKeys, once the apps send tokens.",
            when: { $0?.string != SDKAuthentication.Mode.required.rawValue }
        ),
        VendorSetting(
            "switchByToken",
            default: "false",
            "Whether, with authentication required, another user's proof and the device's push token change the device's user.",
            problem: { $1.bool == nil ? "\($0): must be true or false" : nil }
        )
        .risky(
            .low,
            "Whoever knows the push token of a device can take the device over with another user's proof.",
            remedy: "Remove it when the apps end the former user's session themselves."
        ),
        VendorSetting(
            "publicKeys",
            default: "[]",
            "The RSA keys that verify those tokens, in PEM.",
            problem: {
                texts($1, BrazeLimits.publicKeys, BrazeLimits.publicKeyBytes)
                    && ($1.array ?? []).allSatisfy { SDKAuthentication.isKey($0.string ?? "") }
                    ? nil : "\($0): must list at most \(BrazeLimits.publicKeys) RSA keys of 2,048 bits or more, in PEM"
            }
        ),
    ])

    private static func events(_ name: String, _ value: JSON) -> String? {
        texts(value, BrazeLimits.eventNames, BrazeLimits.eventNameBytes)
            ? nil : "\(name): must list at most \(BrazeLimits.eventNames) names of events"
    }

    private static func texts(_ value: JSON, _ count: Int, _ bytes: Int) -> Bool {
        guard let list = value.array, list.count <= count else { return false }
        return list.allSatisfy { $0.string.map { !$0.isEmpty && $0.utf8.count <= bytes } ?? false }
    }
}
