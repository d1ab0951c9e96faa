import Model
import NotificationHubs

/// Bindings of Azure Notification Hubs.
extension ProvisioningReader {
    /// First parts of paths that are no hub: the gateway's own, and where other vendors are mounted.
    private static let reserved = VendorMounts(GatewayRuntime.adapters).reservedSegments.union([
        "v1", "r", "openapi.json", "console",
    ])

    /// The hub's name, which is the first part of every path, and the prefix of the tutorial's back end where there is one.
    func hubKeys(_ fields: inout StrictFields) throws(ProvisioningProblem) -> [(kind: String, value: String)] {
        let name = try fields.name("hub").lowercased()
        guard !Self.reserved.contains(where: { $0.lowercased() == name }) else {
            throw ProvisioningProblem(path: "\(fields.path).hub", problem: "'\(name)' is a path of the gateway's own")
        }
        let hub = (HubsSettings.keyKind, name)
        guard let value = fields.value(BackendSettings.key) else { return [hub] }
        var backend = try StrictFields(value, path: "\(fields.path).\(BackendSettings.key)")
        guard let prefix = try backend.optionalText("prefix")?.lowercased() else {
            return [hub, (BackendSettings.keyKind, BackendSettings.rootKey)]
        }
        guard !prefix.isEmpty, !prefix.contains("/"), !Self.reserved.contains(prefix) else {
            throw ProvisioningProblem(path: "\(backend.path).prefix", problem: "must be one part of a path of its own")
        }
        return [hub, (BackendSettings.keyKind, prefix)]
    }

    /// The users of the tutorial's back end; what it shows goes among the settings.
    private func backendSecrets(_ fields: inout StrictFields, _ settings: inout JSONObject) throws(ProvisioningProblem)
        -> [String: String]
    {
        guard let value = fields.value(BackendSettings.key) else { return [:] }
        let path = "\(fields.path).\(BackendSettings.key)"
        var backend = try StrictFields(value, path: path)
        _ = backend.value("prefix")
        var own = JSONObject()
        if let acceptsNames = try backend.flag(BackendSettings.namesKey) {
            own[BackendSettings.namesKey] = .bool(acceptsNames)
        }
        own[BackendSettings.messageKey] = try backend.optionalText(BackendSettings.messageKey).map { .string($0) }
        if let image = try backend.optionalText(BackendSettings.imageKey)?.lowercased() {
            guard image.utf8.count == 64, image.allSatisfy(\.isHexDigit) else {
                throw ProvisioningProblem(
                    path: "\(path).image",
                    problem: "must be the hash of PUT /v1/apps/{app}/media/{hash}"
                )
            }
            own[BackendSettings.imageKey] = .string(image)
        }
        var secrets: [String: String] = [:]
        for (path, value) in try backend.list("users") {
            var user = try StrictFields(value, path: path)
            let name = try user.text("name")
            guard BackendSettings.isName(name), secrets[BackendSettings.secretName(of: name)] == nil else {
                throw ProvisioningProblem(path: path, problem: "the name cannot be a tag's, or appears twice")
            }
            secrets[BackendSettings.secretName(of: name)] = try secret(&user, "password", path)
            try user.finish()
        }
        guard secrets.count <= HubsLimits.userCount else {
            throw ProvisioningProblem(path: "\(path).users", problem: "may be \(HubsLimits.userCount) at most")
        }
        guard !secrets.isEmpty || own[BackendSettings.namesKey] == true else {
            throw ProvisioningProblem(path: path, problem: "needs users, or acceptsNames: true as in the tutorial")
        }
        try backend.finish()
        settings[BackendSettings.key] = .object(own)
        return secrets
    }

    /// The keys of its rules. Their names and rights go among the settings.
    func hubSecrets(_ fields: inout StrictFields, _ settings: inout JSONObject, _ path: String)
        throws(ProvisioningProblem) -> [String: String]
    {
        if let problem = HubsSettings.problems(in: settings).first {
            throw ProvisioningProblem(path: "\(path).settings", problem: problem)
        }
        let list = try fields.list("keys")
        guard (1...HubsLimits.keyCount).contains(list.count) else {
            throw ProvisioningProblem(path: "\(path).keys", problem: "needs 1 to \(HubsLimits.keyCount) keys")
        }
        var rules = JSONObject()
        var secrets = try backendSecrets(&fields, &settings)
        for (path, value) in list {
            var key = try StrictFields(value, path: path)
            let name = try key.name("name")
            guard rules[name] == nil else {
                throw ProvisioningProblem(path: path, problem: "name '\(name)' appears twice")
            }
            rules[name] = .array(try rights(&key))
            let values = [try secret(&key, "value", path), try optionalSecret(&key, "secondary", path)]
            for (secretName, value) in zip(HubsSettings.secretNames(of: name), values) {
                guard let value else { continue }
                guard value.utf8.count >= HubsLimits.keyCharacters else {
                    throw ProvisioningProblem(
                        path: path,
                        problem: "a key must have at least \(HubsLimits.keyCharacters) characters"
                    )
                }
                secrets[secretName] = value
            }
            try key.finish()
        }
        settings[HubsSettings.rulesKey] = .object(rules)
        return secrets
    }

    private func rights(_ key: inout StrictFields) throws(ProvisioningProblem) -> [JSON] {
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

    /// Tells a hub's binding which topic its app has.
    static func nameTopics(_ app: inout ProvisioningFile.App) {
        guard let topic = app.platforms[.ios]?.topic else { return }
        for index in app.bindings.indices where app.bindings[index].vendor == .notificationHubs {
            app.bindings[index].settings[HubsSettings.topicKey] = .string(topic)
        }
    }
}
