package import Model

/// A binding's settings for this vendor: a mapping of names that a trace of a customer shows (docs/contracts/ipns.md#2.3), and the environment of its tokens.
package struct IPNSSettings: Sendable, Hashable {
    /// The time zone of this vendor's times (docs/contracts/ipns.md#2.4). Korea has had no summer time since 1988.
    package static let timeZone = TimeZoneName(stored: "Asia/Seoul")

    /// Where provisioning keeps the vendor's own app id, which pushes repeat.
    package static let appIDKey = "appId"

    /// Further names of operations, folded. None of them may be `send`, which needs an API key before the binding is known.
    package var operations: [String: Operation] = [:]
    /// Further names of fields, folded. `APP_ID` finds the binding and cannot be renamed by it.
    package var fields: [String: Fields.Key] = [:]
    /// Which of the push service's worlds its tokens are of; nil: production, and the other when that one does not know them.
    package var environment: PushEnvironment?

    package init(_ binding: BindingSettings) {
        // Most bindings have only the app's id.
        if binding.values.count < 2, binding.values[Self.appIDKey] != nil { return }
        for (name, value) in binding["operations"]?.object?.pairs ?? [] {
            guard let operation = value.string.flatMap({ Operation(name: $0) }), operation != .send else { continue }
            operations[Fields.folded(name)] = operation
        }
        for (name, value) in binding["fields"]?.object?.pairs ?? [] {
            guard let key = value.string.flatMap({ Fields.Key(rawValue: $0) }), key != .appID else { continue }
            fields[Fields.folded(name)] = key
        }
        environment = binding["environment"]?.string.flatMap { PushEnvironment(rawValue: $0) }
    }

    /// What is wrong with `values`, one sentence each, for the operator who provisions them; empty when all is well.
    package static func problems(in values: JSONObject) -> [String] {
        values.pairs.compactMap { key, value in
            switch key {
            case "operations": problem(key, value) { Operation(name: $0).map { $0 != .send } ?? false }
            case "fields": problem(key, value) { Fields.Key(rawValue: $0).map { $0 != .appID } ?? false }
            case "environment":
                value.string.flatMap { PushEnvironment(rawValue: $0) } == nil ? "\(key): not an accepted value" : nil
            case "outsideWindow": outsideWindow(values) == nil ? "\(key): must be suppress or delay" : nil
            case "push.ttlHours":
                value.lenientInt.map { (1...672).contains($0) } ?? false ? nil : "\(key): not an accepted value"
            default: "\(key): unknown setting"
            }
        }
    }

    /// The treatment of a message outside a device's window. Default: it is not pushed, and stays in history and polling (docs/contracts/ipns.md#2.6).
    package static func outsideWindow(_ values: JSONObject) -> AppTiming.Hold? {
        guard let value = values["outsideWindow"] else { return .suppress }
        return value.string.flatMap { AppTiming.Hold(rawValue: $0) }
    }

    private static func problem(_ key: String, _ value: JSON, accepts: (String) -> Bool) -> String? {
        guard let object = value.object else { return "\(key): must be a mapping" }
        let wrong = object.pairs.first { !($0.value.string.map(accepts) ?? false) }
        return wrong.map { "\(key).\($0.key): not an accepted value" }
    }
}
