import Model
import PostgresClient
import Store

/// The settings that a provisioning file states, by the name of their object, in the form of `FormerSettings`. Digests stand for secrets, and
/// `SettingChanges` masks them.
struct ProvisionedSettings {
    let bindings: [String: JSONObject]
    let keys: [String: JSONObject]
    let apps: [String: JSONObject]
    let credentials: [String: JSONObject]

    init(_ part: ProvisioningStatements) {
        func named<Value>(
            _ values: [Value],
            _ read: (Value) -> (String, JSONObject)
        ) -> [String: JSONObject] {
            Dictionary(values.map(read)) { first, _ in first }
        }
        bindings = named(part.tenant.apps.flatMap { app in app.bindings.map { (app.id, $0) } }) { app, binding in
            (FormerSettings.bindingName(binding.key), FormerSettings.binding(app: app.rawValue, binding.settings))
        }
        keys = named(part.tenant.apiKeys) { key in
            let settings = FormerSettings.key(
                scopes: key.scopes,
                networks: key.networks,
                expiresAt: key.expiresAt,
                hash: key.hash,
                previous: key.previousHash,
                recipientsPerDay: key.recipientsPerDay.map(Int64.init)
            )
            return (key.name, settings)
        }
        apps = named(part.tenant.apps) { app in
            let settings = FormerSettings.app(
                platforms: PlatformRouteCoding.encode(app.platforms),
                defaults: .object(ProvisioningStatements.defaults(of: app)),
                isRetired: false
            )
            return (app.id.rawValue, settings)
        }
        credentials = named(part.tenant.credentials) { credential in
            var settings = FormerSettings.credential(
                kind: credential.kind,
                endpoint: credential.endpoint,
                channelEndpoint: credential.channelEndpoint,
                pushesPerSecond: credential.pushesPerSecond.map(Int.init)
            )
            settings["teamId"] = credential.teamID.map { .string($0) }
            settings["keyId"] = credential.keyID.map { .string($0) }
            settings["trustRoots"] = credential.trustRoots.map { .string($0) }
            settings["secret"] = .string(HexCoding.encode(credential.fingerprint))
            return (credential.id.rawValue, settings)
        }
    }
}

/// The settings that the database has before an apply, by the name of their object.
enum FormerSettings {
    static func bindingName(_ vendor: String, _ kind: String, _ value: String, _ host: String) -> String {
        [vendor, kind, value, host].joined(separator: "\n")
    }

    static func bindingName(_ key: BindingKey) -> String {
        bindingName(key.vendor.rawValue, key.kind, key.value, key.host ?? "")
    }

    static func bindingName(_ row: Row) throws(PostgresError) -> String {
        bindingName(try row.text("vendor"), try row.text("kind"), try row.text("value"), try row.text("host"))
    }

    static func binding(app: String, _ settings: JSONObject) -> JSONObject {
        var settings = settings
        settings["app"] = .string(app)
        return settings
    }

    /// Settings of bindings whose members are named by people or by digests of keys: `auth.testCodes` of RationalOwl, `keys` of Braze.
    private static let hidden: Set<String> = ["auth.testCodes", "keys"]

    /// A binding's settings in which such a member is one text: that it changed is shown, and not what it contains.
    static func withoutPeople(_ settings: JSONObject) -> JSONObject {
        JSONObject(
            settings.pairs.map { name, value in
                hidden.contains(name) ? (name, JSON.string(JSONWriter.text(value))) : (name, value)
            }
        )
    }

    /// Whether a setting is masked: those above, and the vendor's own keys of the binding (`<kind>Id`), which the row names shortened.
    static func isKeyOfVendor(_ name: String) -> Bool {
        hidden.contains(name) || (name.hasSuffix("Id") && !name.contains("."))
    }

    static func binding(_ row: Row) throws(PostgresError) -> (String, JSONObject) {
        let settings = try row.optionalDocument("settings")?.object ?? [:]
        return (try bindingName(row), binding(app: try row.text("app_id"), settings))
    }

    static func key(
        scopes: [String],
        networks: [String],
        expiresAt: Timestamp?,
        hash: [UInt8],
        previous: [UInt8]?,
        recipientsPerDay: Int64?
    ) -> JSONObject {
        var settings: JSONObject = [
            "scopes": .array(scopes.map { .string($0) }), "networks": .array(networks.map { .string($0) }),
            "secret": .string(HexCoding.encode(hash)),
        ]
        settings["expiresAt"] = expiresAt.map { .string($0.rfc3339) }
        settings["previousSecret"] = previous.map { .string(HexCoding.encode($0)) }
        settings["recipientsPerDay"] = recipientsPerDay.map { .int($0) }
        return settings
    }

    static func key(_ row: Row) throws(PostgresError) -> (String, JSONObject) {
        let settings = key(
            scopes: try row.texts("scopes"),
            networks: try row.texts("networks"),
            expiresAt: try row.optionalTime("expires_at"),
            hash: try row.bytes("hash"),
            previous: try row.optionalBytes("previous_hash"),
            recipientsPerDay: try row.optionalInt("recipients_per_day").map(Int64.init)
        )
        return (try row.text("name"), settings)
    }

    static func app(platforms: JSON, defaults: JSON, isRetired: Bool) -> JSONObject {
        ["platforms": platforms, "defaults": defaults, "retired": .bool(isRetired)]
    }

    static func app(_ row: Row) throws(PostgresError) -> (String, JSONObject) {
        let settings = app(
            platforms: try row.optionalDocument("platforms") ?? [:],
            defaults: try row.optionalDocument("defaults") ?? [:],
            isRetired: try row.bool("is_retired")
        )
        return (try row.text("app_id"), settings)
    }

    static func credential(
        kind: String,
        endpoint: String?,
        channelEndpoint: String?,
        pushesPerSecond: Int?
    ) -> JSONObject {
        var settings: JSONObject = ["kind": .string(kind)]
        let isUpstream = UpstreamKind.vendor(of: kind) != nil
        settings[isUpstream ? "url" : "endpoint"] = endpoint.map { .string($0) }
        settings["channelEndpoint"] = channelEndpoint.map { .string($0) }
        settings[isUpstream ? "callsPerSecond" : "pushesPerSecond"] = pushesPerSecond.map { .int($0) }
        return settings
    }

    static func credential(_ row: Row) throws(PostgresError) -> (String, JSONObject) {
        var settings = credential(
            kind: try row.text("kind"),
            endpoint: try row.optionalText("endpoint"),
            channelEndpoint: try row.optionalText("channel_endpoint"),
            pushesPerSecond: try row.optionalInt("pushes_per_second")
        )
        settings["teamId"] = try row.optionalText("team_id").map { .string($0) }
        settings["keyId"] = try row.optionalText("key_id").map { .string($0) }
        settings["trustRoots"] = try row.optionalText("trust_roots").map { .string($0) }
        settings["secret"] = .string(HexCoding.encode(try row.bytes("fingerprint")))
        return (try row.text("credential_id"), settings)
    }
}
