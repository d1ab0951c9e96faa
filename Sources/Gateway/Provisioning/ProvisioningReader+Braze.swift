import Braze
import Model

/// Bindings of Braze.
extension ProvisioningReader {
    /// The hashes of its REST keys, which lead to the binding, and the identifier that its SDK shows. What each key may do goes among the settings.
    func brazeKeys(_ fields: inout StrictFields, _ path: String, _ rules: inout JSONObject)
        throws(ProvisioningProblem) -> [(kind: String, value: String)]
    {
        if let key = try optionalSecret(&fields, "restKey", path) {
            try add(key, ["name": "restKey", "permissions": [.string(BrazeSettings.everything)]], path, &rules)
        }
        let list = try fields.list("restKeys")
        for (path, value) in list {
            var entry = try StrictFields(value, path: path)
            let key = try secret(&entry, "value", path)
            var rule: JSONObject = ["name": .string(try entry.name("name"))]
            rule["permissions"] = .array(try permissions(&entry))
            if let addresses = try addresses(&entry) { rule["addresses"] = .array(addresses) }
            try entry.finish()
            try add(key, rule, path, &rules)
        }
        guard (1...BrazeLimits.keyCount).contains(rules.count) else {
            throw ProvisioningProblem(path: path, problem: "needs 1 to \(BrazeLimits.keyCount) REST keys")
        }
        var keys = rules.keys.map { (kind: BrazeSettings.restKind, value: $0) }
        if let sdkKey = try fields.optionalText("sdkKey") { keys.append((BrazeSettings.sdkKind, sdkKey)) }
        return keys
    }

    private func add(_ key: String, _ rule: JSONObject, _ path: String, _ rules: inout JSONObject)
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

    private func permissions(_ entry: inout StrictFields) throws(ProvisioningProblem) -> [JSON] {
        var permissions: [JSON] = []
        for (path, value) in try entry.list("permissions") {
            guard let name = value.string, BrazeSettings.permissions.contains(name) else {
                throw ProvisioningProblem(path: path, problem: "must be a permission of the vendor's, or '*'")
            }
            permissions.append(.string(name))
        }
        guard !permissions.isEmpty else {
            throw ProvisioningProblem(path: "\(entry.path).permissions", problem: "is missing")
        }
        return permissions
    }

    /// Nil: the key may be used from anywhere.
    private func addresses(_ entry: inout StrictFields) throws(ProvisioningProblem) -> [JSON]? {
        let list = try entry.list("addresses")
        guard list.count <= BrazeLimits.addressCount else {
            throw ProvisioningProblem(path: entry.path, problem: "at most \(BrazeLimits.addressCount) addresses")
        }
        for (path, value) in list where value.string?.isEmpty ?? true {
            throw ProvisioningProblem(path: path, problem: "must be an IP address")
        }
        return list.isEmpty ? nil : list.map(\.value)
    }

    /// The settings of a binding, with what its keys may do.
    func brazeSettings(
        _ settings: JSONObject,
        _ keys: [(kind: String, value: String)],
        _ rules: JSONObject,
        _ path: String
    ) throws(ProvisioningProblem) -> JSONObject {
        if let problem = BrazeSettings.problems(in: settings).first {
            throw ProvisioningProblem(path: "\(path).settings", problem: problem)
        }
        if settings["sdkEnabled"] == true, !keys.contains(where: { $0.kind == BrazeSettings.sdkKind }) {
            throw ProvisioningProblem(path: "\(path).settings", problem: "sdkEnabled: needs the binding's sdkKey")
        }
        var settings = settings
        settings[BrazeSettings.keysKey] = .object(rules)
        return settings
    }
}
