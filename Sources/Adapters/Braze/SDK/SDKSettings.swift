import Model

/// What a binding says of the SDK's calls.
struct SDKSettings {
    private let values: JSONObject

    init(_ binding: BindingSettings) { values = binding.values }

    /// Off unless the operator enables it: whether an app may keep the vendor's SDK is a question of its licence (docs/contracts/braze.md#0.2).
    var isEnabled: Bool { values["sdkEnabled"] == true }

    /// Names of events that report an opened push. The names that the vendor's SDKs send are not public, except this one (docs/contracts/braze.md#3.3).
    var openEvents: Set<String> { names("openEvents") ?? ["pc"] }
    /// Names of events that tell of a push that arrived. None is public.
    var receivedEvents: Set<String> { names("receivedEvents") ?? [] }

    /// Whether pages of `origin` may read answers.
    func allows(_ origin: String) -> Bool {
        let origins = (values["origins"]?.array ?? []).compactMap(\.string)
        return origins.contains(origin) || origins.contains("*")
    }

    var authentication: SDKAuthentication.Mode {
        values["authentication"]?.string.flatMap(SDKAuthentication.Mode.init) ?? .disabled
    }

    /// PEM of the keys by which the app's back end's tokens are verified.
    var publicKeys: [String] { (values["publicKeys"]?.array ?? []).compactMap(\.string) }

    private func names(_ key: String) -> Set<String>? { values[key]?.array.map { Set($0.compactMap(\.string)) } }

    /// What is wrong with one setting; nil: nothing, or it is none of these.
    static func problem(_ key: String, _ value: JSON) -> String? {
        switch key {
        case "sdkEnabled": value.bool == nil ? "\(key): must be true or false" : nil
        case "openEvents", "receivedEvents":
            texts(value, BrazeLimits.eventNames, BrazeLimits.eventNameBytes)
                ? nil : "\(key): must list at most \(BrazeLimits.eventNames) names of events"
        case "origins":
            texts(value, BrazeLimits.origins, BrazeLimits.originBytes)
                ? nil : "\(key): must list at most \(BrazeLimits.origins) origins, such as https://shop.example"
        case "authentication":
            value.string.flatMap(SDKAuthentication.Mode.init) == nil
                ? "\(key): must be disabled, optional or required" : nil
        case "publicKeys":
            texts(value, BrazeLimits.publicKeys, BrazeLimits.publicKeyBytes)
                && (value.array ?? []).allSatisfy { SDKAuthentication.isKey($0.string ?? "") }
                ? nil : "\(key): must list at most \(BrazeLimits.publicKeys) RSA keys of 2,048 bits or more, in PEM"
        default: nil
        }
    }

    static let keys: Set<String> = [
        "sdkEnabled", "openEvents", "receivedEvents", "origins", "authentication", "publicKeys",
    ]

    private static func texts(_ value: JSON, _ count: Int, _ bytes: Int) -> Bool {
        guard let list = value.array, list.count <= count else { return false }
        return list.allSatisfy { $0.string.map { !$0.isEmpty && $0.utf8.count <= bytes } ?? false }
    }
}
