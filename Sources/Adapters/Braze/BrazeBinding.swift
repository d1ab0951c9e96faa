import Crypto
import FoundationEssentials
package import Model

/// The settings of a Braze binding: its REST keys and their permissions. The keys themselves are not stored: their SHA-256 identifies the binding, so
/// that neither the store nor a dump of the settings reveals a key.
package struct BrazeSettings: Sendable {
    /// The kind of the hash of a REST key.
    package static let restKind = "rest"
    /// The kind of an app identifier, as the vendor's SDK sends it.
    package static let sdkKind = "sdk"
    /// The setting with the permissions of keys: `{"<hash>": {"name": "crm", "permissions": ["messages.send"], "addresses": ["192.0.2.1"]}}`.
    package static let keysKey = "keys"
    /// Includes every permission.
    package static let everything = "*"

    /// The permissions that keys may have (docs/contracts/braze.md#4.1), including those of calls that are not supported yet, because a key is created once.
    package static let permissions: Set<String> = [
        everything, "users.track", "users.delete", "users.identify", "users.export.ids", "users.alias.new",
        "users.merge", "messages.send", "messages.schedule.create", "messages.schedule.update",
        "messages.schedule.delete", "messages.schedule_broadcasts", "messages.live_activity.update",
        "campaigns.trigger.send",
        "campaigns.trigger.schedule.create", "campaigns.trigger.schedule.update", "campaigns.trigger.schedule.delete",
        "sends.id.create", "sends.data_series", "subscription.status.set", "subscription.status.get",
    ]

    /// The hash by which a key is stored and found. Keys are long and random, so one round without salt is sufficient, and a lookup requires it.
    package static func hash(_ key: String) -> String { HexCoding.encode(Array(SHA256.hash(data: Data(key.utf8)))) }

    private let binding: BindingSettings

    init(_ binding: BindingSettings) { self.binding = binding }

    /// Whether the key may make `call` from `address`.
    func permits(_ call: BrazeCall, keyHash: String, from address: IPAddress?) -> Bool {
        guard let rule = binding.values[Self.keysKey]?[keyHash]?.object else { return false }
        let permissions = (rule["permissions"]?.array ?? []).compactMap(\.string)
        guard permissions.contains(call.permission) || permissions.contains(Self.everything) else { return false }
        guard let addresses = rule["addresses"]?.array else { return true }
        guard let address else { return false }
        return addresses.contains { $0.string.flatMap { AddressRange($0) }?.contains(address) ?? false }
    }

    package static let declared = SDKSettings.declared
}

/// Extracts the key of a call: from the header, otherwise the body, otherwise the query, which older integrations use (docs/contracts/braze.md#4.1).
enum RestKey {
    /// - Throws: `AdapterError(.unauthorized)` if the call has no key. An unreadable body counts as one without a key.
    static func hash(_ request: VendorRequest) throws(AdapterError) -> String {
        guard let key = key(request), (1...BrazeLimits.keyBytes).contains(key.utf8.count) else {
            throw AdapterError(.unauthorized)
        }
        return BrazeSettings.hash(key)
    }

    private static func key(_ request: VendorRequest) -> String? {
        if let header = request.header("Authorization") {
            let parts = header.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
            return String(parts[1])
        }
        let body = try? request.brazeBody()
        return body?["api_key"]?.string ?? request.parameter("api_key")
    }
}

extension BrazeAdapter: ProvisionedVendor {
    package var bindingForm: BindingForm {
        BindingForm(
            product: "Braze",
            fields: [
                .secret("restKey", "A REST key that permits every call. Only its SHA-256 is kept."),
                .plain(
                    "restKeys[].name",
                    "The name of a REST key. 1 to \(BrazeLimits.keyCount) keys, restKey included."
                ),
                .secret(
                    "restKeys[].value",
                    "The key. \(BrazeLimits.keyCharacters) to \(BrazeLimits.keyBytes) characters."
                ),
                .plain("restKeys[].permissions", "The vendor's names of what it permits: users.track; or '*'."),
                .plain("restKeys[].addresses", "The IP addresses or networks that may use the key. Default: all."),
                .plain("sdkKey", "The app identifier that the SDK sends. Optional."),
            ],
            settings: BrazeSettings.declared
        )
    }

    package func binding(from source: inout BindingSource) throws(ProvisioningProblem) -> VendorBinding {
        let rules = try RestKeyRules.read(&source)
        var keys = rules.keys.map { VendorBinding.Key(BrazeSettings.restKind, $0) }
        let sdkKey = try source.fields.optionalText("sdkKey")
        if let sdkKey { keys.append(.init(BrazeSettings.sdkKind, sdkKey)) }
        var settings = source.settings
        if settings["sdkEnabled"] == true, sdkKey == nil {
            throw ProvisioningProblem(
                path: "\(source.path).settings",
                problem: "sdkEnabled: needs the binding's sdkKey"
            )
        }
        settings[BrazeSettings.keysKey] = .object(rules)
        return VendorBinding(keys: keys, settings: settings)
    }
}

/// Reads the REST keys of a binding: the permissions of each, by its hash. A key itself is neither a setting nor a secret.
private enum RestKeyRules {
    static func read(_ source: inout BindingSource) throws(ProvisioningProblem) -> JSONObject {
        var rules = JSONObject()
        if let key = try source.optionalSecret("restKey") {
            let rule: JSONObject = ["name": "restKey", "permissions": [.string(BrazeSettings.everything)]]
            try add(key, rule, source.path, &rules)
        }
        for (path, value) in try source.fields.list("restKeys") {
            var entry = try StrictFields(value, path: path)
            let key = try source.secrets.secret(&entry, "value")
            var rule: JSONObject = ["name": .string(try entry.name("name"))]
            rule["permissions"] = .array(try permissions(&entry))
            if let addresses = try addresses(&entry) { rule["addresses"] = .array(addresses) }
            try entry.finish()
            try add(key, rule, path, &rules)
        }
        guard (1...BrazeLimits.keyCount).contains(rules.count) else {
            throw ProvisioningProblem(path: source.path, problem: "needs 1 to \(BrazeLimits.keyCount) REST keys")
        }
        return rules
    }

    private static func add(_ key: String, _ rule: JSONObject, _ path: String, _ rules: inout JSONObject)
        throws(ProvisioningProblem)
    {
        guard key.count >= BrazeLimits.keyCharacters, key.utf8.count <= BrazeLimits.keyBytes else {
            throw ProvisioningProblem(
                path: path,
                problem: "a key must have \(BrazeLimits.keyCharacters) to \(BrazeLimits.keyBytes) characters"
            )
        }
        let hash = BrazeSettings.hash(key)
        guard rules[hash] == nil else { throw ProvisioningProblem(path: path, problem: "the key appears twice") }
        rules[hash] = .object(rule)
    }

    private static func permissions(_ entry: inout StrictFields) throws(ProvisioningProblem) -> [JSON] {
        var permissions: [JSON] = []
        for (path, value) in try entry.list("permissions") {
            guard let name = value.string, BrazeSettings.permissions.contains(name) else {
                throw ProvisioningProblem(path: path, problem: "must be a permission of the vendor, or '*'")
            }
            permissions.append(.string(name))
        }
        guard !permissions.isEmpty else {
            throw ProvisioningProblem(path: "\(entry.path).permissions", problem: "is missing")
        }
        return permissions
    }

    /// Nil: the key may be used from any address.
    private static func addresses(_ entry: inout StrictFields) throws(ProvisioningProblem) -> [JSON]? {
        let list = try entry.list("addresses")
        guard list.count <= BrazeLimits.addressCount else {
            throw ProvisioningProblem(path: entry.path, problem: "at most \(BrazeLimits.addressCount) addresses")
        }
        for (path, value) in list where value.string.flatMap({ AddressRange($0) }) == nil {
            throw ProvisioningProblem(path: path, problem: "must be an IP address or a network like 192.0.2.0/24")
        }
        return list.isEmpty ? nil : list.map(\.value)
    }
}
