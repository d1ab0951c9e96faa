import Crypto
import FoundationEssentials
package import Model

/// A binding of this dialect: which REST keys lead to it, and what each may do. A key itself is nowhere: its SHA-256 leads to the binding, so that
/// neither the store nor a dump of the settings gives one away.
package struct BrazeSettings: Sendable {
    /// The kind of the hash of a REST key.
    package static let restKind = "rest"
    /// The kind of an app identifier, as the vendor's SDK shows it.
    package static let sdkKind = "sdk"
    /// The setting with what keys may do: `{"<hash>": {"name": "crm", "permissions": ["messages.send"], "addresses": ["192.0.2.1"]}}`.
    package static let keysKey = "keys"
    /// Stands for every permission.
    package static let everything = "*"

    /// Names of permissions that keys may have (docs/contracts/braze.md#4.1), including those of calls that are not supported yet: a key is created once.
    package static let permissions: Set<String> = [
        everything, "users.track", "users.delete", "users.identify", "users.export.ids", "users.alias.new",
        "users.merge", "messages.send", "messages.schedule.create", "messages.schedule.update",
        "messages.schedule.delete", "messages.schedule_broadcasts", "messages.live_activity.update",
        "campaigns.trigger.send",
        "campaigns.trigger.schedule.create", "campaigns.trigger.schedule.update", "campaigns.trigger.schedule.delete",
        "sends.id.create", "sends.data_series", "subscription.status.set", "subscription.status.get",
    ]

    /// What stands for a key. Keys are long and random, so that one round without salt is enough, and a look-up needs just that.
    package static func hash(_ key: String) -> String { HexCoding.encode(Array(SHA256.hash(data: Data(key.utf8)))) }

    private let binding: BindingSettings

    init(_ binding: BindingSettings) { self.binding = binding }

    /// Whether the key may make `call` from `address`.
    func permits(_ call: BrazeCall, keyHash: String, from address: String?) -> Bool {
        guard let rule = binding.values[Self.keysKey]?[keyHash]?.object else { return false }
        let permissions = (rule["permissions"]?.array ?? []).compactMap(\.string)
        guard permissions.contains(call.permission) || permissions.contains(Self.everything) else { return false }
        guard let addresses = rule["addresses"]?.array else { return true }
        return addresses.contains { $0.string != nil && $0.string == address }
    }

    /// What is wrong with `values`, one sentence each, for the operator who provisions them; empty when all is well.
    package static func problems(in values: JSONObject) -> [String] {
        values.pairs.compactMap { key, value in
            SDKSettings.keys.contains(key) ? SDKSettings.problem(key, value) : "\(key): unknown setting"
        }
    }
}

/// The key of a call: from the header, else the body, else the query, which older integrations use (docs/contracts/braze.md#4.1).
enum RestKey {
    /// - Throws: `AdapterError(.unauthorized)` where there is none; a body that cannot be read is no key.
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
