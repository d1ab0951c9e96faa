import Model

/// Reads the tutorials' back end of a hub's binding: its prefix becomes a key of the binding, its passwords become secrets, the rest becomes settings.
enum BackendBinding {
    /// - Throws: `ProvisioningProblem`.
    static func read(_ source: inout BindingSource, into binding: inout VendorBinding) throws(ProvisioningProblem) {
        guard let value = source.fields.value(BackendSettings.key) else { return }
        var fields = try StrictFields(value, path: "\(source.path).\(BackendSettings.key)")
        binding.keys.append(.init(BackendSettings.keyKind, try prefix(&fields, source.reservedSegments)))
        let settings = try settings(&fields)
        let passwords = try passwords(&fields, source.secrets)
        guard !passwords.isEmpty || settings[BackendSettings.namesKey] == true else {
            throw ProvisioningProblem(
                path: fields.path,
                problem: "needs users, or acceptsNames: true as in the tutorial"
            )
        }
        try fields.finish()
        binding.secrets.merge(passwords) { _, password in password }
        binding.settings[BackendSettings.key] = .object(settings)
    }

    private static func prefix(_ fields: inout StrictFields, _ reserved: Set<String>) throws(ProvisioningProblem)
        -> String
    {
        guard let prefix = try fields.optionalText("prefix")?.lowercased() else { return BackendSettings.rootKey }
        guard !prefix.isEmpty, !prefix.contains("/"), !reserved.contains(prefix) else {
            throw ProvisioningProblem(
                path: "\(fields.path).prefix",
                problem: "must be one path segment that the gateway does not use itself"
            )
        }
        return prefix
    }

    private static func settings(_ fields: inout StrictFields) throws(ProvisioningProblem) -> JSONObject {
        var settings = JSONObject()
        if let acceptsNames = try fields.flag(BackendSettings.namesKey) {
            settings[BackendSettings.namesKey] = .bool(acceptsNames)
        }
        settings[BackendSettings.messageKey] = try fields.optionalText(BackendSettings.messageKey).map { .string($0) }
        if let image = try fields.optionalText(BackendSettings.imageKey)?.lowercased() {
            guard image.utf8.count == 64, image.allSatisfy(\.isHexDigit) else {
                throw ProvisioningProblem(
                    path: "\(fields.path).image",
                    problem: "must be the hash of PUT /v1/apps/{app}/media/{hash}"
                )
            }
            settings[BackendSettings.imageKey] = .string(image)
        }
        return settings
    }

    private static func passwords(_ fields: inout StrictFields, _ secrets: any SecretSource)
        throws(ProvisioningProblem) -> [String: String]
    {
        var passwords: [String: String] = [:]
        for (path, value) in try fields.list("users") {
            var user = try StrictFields(value, path: path)
            let name = try user.text("name")
            let secretName = BackendSettings.secretName(of: name)
            guard BackendSettings.isName(name), passwords[secretName] == nil else {
                throw ProvisioningProblem(path: path, problem: "the name cannot be part of a tag, or appears twice")
            }
            passwords[secretName] = try secrets.secret(&user, "password")
            try user.finish()
        }
        guard passwords.count <= HubsLimits.userCount else {
            throw ProvisioningProblem(path: "\(fields.path).users", problem: "at most \(HubsLimits.userCount) users")
        }
        return passwords
    }
}
