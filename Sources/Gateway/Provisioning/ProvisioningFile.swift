import Adapters
import EngineStore
import Foundation
import Model
import Routing
import Secrets

/// The checked content of a provisioning file. Its secrets are read but not yet sealed.
package struct ProvisioningFile: Sendable {
    struct Tenant: Sendable {
        var id: TenantID
        var apiKeys: [APIKey]
        var credentials: [Credential]
        var apps: [App]
        var retention: TenantRetention
        var pushesPerSecond: Int32?
    }
    struct APIKey: Sendable {
        var name: String
        var secret: String
        var scopes: [String]
        var expiresAt: Timestamp?
        var networks: [String] = []
        /// A second secret that is also valid, while callers change to the new one.
        var previousSecret: String?
        /// The recipients to whom it may send per UTC day. Nil: any number.
        var recipientsPerDay: Int32?
        /// Whether the file states that the key reads no content of messages.
        var isWithoutContent = false
    }
    struct Credential: Sendable {
        var id: CredentialID
        /// The team of a signing key. A certificate contains its team.
        var teamID: String?
        var keyID: String?
        var secret: CredentialSecret
        /// Only for a simulator or a proxy.
        var endpoint: String?
        /// The same for the management of channels, which Apple has on other hosts.
        var channelEndpoint: String?
        var trustRoots: [UInt8]?
        var pushesPerSecond: Int32?
    }
    struct App: Sendable {
        var id: AppID
        var platforms: [Platform: PlatformSettings]
        var bindings: [Binding]
        var timing = AppTiming.none
        var assurance = AssuranceRules.none
        /// Messages to more recipients need an approval. Nil: none does.
        var approvalAbove: Int?
        /// Whether a vendor's sends reach the registrations of other vendors.
        var crossesDialects = false
        /// The quotas that differ from the defaults.
        var quotas: [Quota: Int] = [:]
        /// Nil: no tokens confirm users.
        var userTokens: UserTokenRules?
        /// The base of its rules, and where it is in the file.
        var routes = RouteRules.none
        var routesPath = ""
    }
    struct PlatformSettings: Sendable {
        var topic: String
        var credentials: [PushEnvironment: CredentialID]
    }
    /// A vendor's binding with its location in the file.
    struct Binding: Sendable {
        var vendor: Vendor
        var path: String
        /// Lower case. Nil: the binding answers on any host.
        var host: String?
        /// The content as read by the vendor. The secrets are not sealed yet.
        var content: VendorBinding

        var keys: [VendorBinding.Key] { content.keys }
        var settings: JSONObject { content.settings }
        var secrets: [String: String] { content.secrets }
    }

    var tenants: [Tenant]
}

/// Converts a file's text to a `ProvisioningFile`, or reports the error with its location.
struct ProvisioningReader: SecretSource {
    /// The base of relative paths: the file's own directory.
    var directory: String
    var environment: [String: String]
    /// Whether the file itself may contain secrets.
    var allowsInlineSecrets: Bool
    let vendors: VendorCatalog
    let reservedSegments: Set<String>
    /// Whether the fields contain what they name in a file: `privateKey` in place of `privateKeyFile`. Files and the environment are then not read.
    var containsFiles = false

    init(
        directory: String,
        environment: [String: String],
        allowsInlineSecrets: Bool,
        vendors: VendorCatalog = VendorCatalog.product
    ) {
        self.directory = directory
        self.environment = environment
        self.allowsInlineSecrets = allowsInlineSecrets
        self.vendors = vendors
        reservedSegments = Self.reservedSegments(vendors)
    }

    /// - Throws: `ProvisioningProblem`.
    func read(_ text: String) throws(ProvisioningProblem) -> ProvisioningFile {
        var root = try StrictFields(YAMLTree.parse(text), path: "")
        var tenants: [ProvisioningFile.Tenant] = []
        for (path, value) in try root.list("tenants") { tenants.append(try tenant(value, path)) }
        try root.finish()
        try unique(tenants.map(\.id.rawValue), "tenants", "id")
        try complete(&tenants)
        return ProvisioningFile(tenants: tenants)
    }

    private func tenant(_ json: JSON, _ path: String) throws(ProvisioningProblem) -> ProvisioningFile.Tenant {
        var fields = try StrictFields(json, path: path)
        let id = TenantID(try fields.name("id"))
        var keys: [ProvisioningFile.APIKey] = []
        for (path, value) in try fields.list("apiKeys") { keys.append(try apiKey(value, path)) }
        var credentials: [ProvisioningFile.Credential] = []
        for (path, value) in try fields.list("credentials") { credentials.append(try credential(value, path)) }
        var apps: [ProvisioningFile.App] = []
        let known = roles(of: credentials)
        for (path, value) in try fields.list("apps") { apps.append(try app(value, path, credentials: known)) }
        let retention = try retention(&fields)
        let rate = try fields.rate("pushesPerSecond")
        try fields.finish()
        try unique(keys.map(\.name), "\(path).apiKeys", "name")
        try unique(credentials.map(\.id.rawValue), "\(path).credentials", "id")
        try unique(apps.map(\.id.rawValue), "\(path).apps", "id")
        return ProvisioningFile.Tenant(
            id: id,
            apiKeys: keys,
            credentials: credentials,
            apps: apps,
            retention: retention,
            pushesPerSecond: rate
        )
    }

    private func retention(_ fields: inout StrictFields) throws(ProvisioningProblem) -> TenantRetention {
        var durations: [TenantRetention.Name: Duration] = [:]
        for (key, path, value) in try fields.pairs("retention") {
            guard let name = TenantRetention.Name(rawValue: key) else {
                let known = TenantRetention.Name.allCases.map(\.rawValue).joined(separator: ", ")
                throw ProvisioningProblem(path: path, problem: "is not a known key; use one of \(known)")
            }
            guard let duration = value.string.flatMap(Self.duration), name.range.contains(duration) else {
                let least = name.range.lowerBound.components.seconds / 86_400
                throw ProvisioningProblem(
                    path: path,
                    problem: "must be a time like 36h or 30d, from \(least)d to 3650d"
                )
            }
            durations[name] = duration
        }
        return TenantRetention(durations)
    }

    /// Parses hours or days: `36h`, `30d`.
    static func duration(_ text: String) -> Duration? {
        // Six digits: above every permitted range, and below the maximum of a duration.
        guard text.utf8.count <= 7, let number = Int64(text.dropLast()), number > 0 else { return nil }
        switch text.last {
        case "h": return .seconds(number * 3600)
        case "d": return .seconds(number * 86_400)
        default: return nil
        }
    }

    private func apiKey(_ json: JSON, _ path: String) throws(ProvisioningProblem) -> ProvisioningFile.APIKey {
        var fields = try StrictFields(json, path: path)
        let name = try fields.name("name")
        let secret = try secret(&fields, "secret")
        let previous = try optionalSecret(&fields, "previousSecret")
        // The previous one may be weak: a key that is easy to guess is replaced like any other.
        if let fault = SecretStrength.fault(of: secret) { throw ProvisioningProblem(path: path, problem: fault) }
        var scopes: [String] = []
        for (path, value) in try fields.list("scopes") {
            guard let scope = value.string.flatMap({ KeyScope($0) }) else {
                throw ProvisioningProblem(path: path, problem: "must be one of \(KeyScope.forms)")
            }
            scopes.append(scope.description)
        }
        var networks: [String] = []
        for (path, value) in try fields.list("networks") {
            guard let network = value.string.flatMap({ AddressRange($0) }), networks.count < APIKeys.networkLimit else {
                throw ProvisioningProblem(
                    path: path,
                    problem: "must be a network like 10.0.0.0/8, at most \(APIKeys.networkLimit)"
                )
            }
            networks.append(network.description)
        }
        var expiresAt: Timestamp?
        if let text = try fields.optionalText("expiresAt") {
            guard let date = try? Date(text, strategy: .iso8601) else {
                throw ProvisioningProblem(
                    path: "\(path).expiresAt",
                    problem: "must be a time like 2027-01-01T00:00:00Z"
                )
            }
            expiresAt = Timestamp(milliseconds: Int64(clamping: Int(date.timeIntervalSince1970 * 1000)))
        }
        let recipientsPerDay = try fields.count("recipientsPerDay")
        if recipientsPerDay == 0 {
            throw ProvisioningProblem(path: "\(path).recipientsPerDay", problem: "must be at least 1")
        }
        let content = try fields.flag("content")
        if content == true || content == false && KeyScopes(scopes).apps(.content) != .only([]) {
            throw ProvisioningProblem(path: "\(path).content", problem: "may only be false; 'content' is a scope")
        }
        try fields.finish()
        return .init(
            name: name,
            secret: secret,
            scopes: scopes,
            expiresAt: expiresAt,
            networks: networks,
            previousSecret: previous,
            recipientsPerDay: recipientsPerDay.map { Int32(clamping: $0) },
            isWithoutContent: content == false
        )
    }

    func app(
        _ json: JSON,
        _ path: String,
        credentials: [CredentialID: CredentialRole]
    ) throws(ProvisioningProblem) -> ProvisioningFile.App {
        var fields = try StrictFields(json, path: path)
        let id = AppID(try fields.name("id"))
        var platforms: [Platform: ProvisioningFile.PlatformSettings] = [:]
        for (key, path, value) in try fields.pairs("platforms") {
            guard let platform = Platform(rawValue: key) else {
                throw ProvisioningProblem(path: path, problem: "is not a known platform; use ios or android")
            }
            platforms[platform] = try platformSettings(value, path, credentials: credentials)
        }
        var bindings: [ProvisioningFile.Binding] = []
        for (key, path, value) in try fields.pairs("bindings") { bindings.append(try binding(key, value, path)) }
        let rules = try routes(&fields, credentials: credentials)
        let saysWindows = fields.value("receivingWindows") != nil
        var timing = try timing(&fields)
        // The vendors' default for windows applies unless the app sets it.
        if !saysWindows, let hold = bindings.lazy.compactMap(\.content.outsideWindow).first {
            timing.windows.hold = hold
        }
        let assurance = try assurance(&fields)
        let approvalAbove = try fields.count("approvalAbove")
        let crossesDialects = try fields.flag(BindingSettings.crossingKey) ?? false
        let quotas = try quotas(&fields)
        let userTokens = try userTokens(&fields)
        try fields.finish()
        return ProvisioningFile.App(
            id: id,
            platforms: platforms,
            bindings: bindings,
            timing: timing,
            assurance: assurance,
            approvalAbove: approvalAbove,
            crossesDialects: crossesDialects,
            quotas: quotas,
            userTokens: userTokens,
            routes: rules,
            routesPath: Self.routesPath(path)
        )
    }

    private func quotas(_ fields: inout StrictFields) throws(ProvisioningProblem) -> [Quota: Int] {
        var quotas: [Quota: Int] = [:]
        for (key, path, value) in try fields.pairs("quotas") {
            guard let quota = Quota(rawValue: key), Quota.ofApps.contains(quota) else {
                let known = Quota.ofApps.map(\.rawValue).joined(separator: ", ")
                throw ProvisioningProblem(path: path, problem: "is not a known key; use one of \(known)")
            }
            guard let number = value.int, (1...Int64(Int32.max)).contains(number) else {
                throw ProvisioningProblem(path: path, problem: "must be a whole number from 1 to \(Int32.max)")
            }
            quotas[quota] = Int(number)
        }
        return quotas
    }

    private func platformSettings(
        _ json: JSON,
        _ path: String,
        credentials: [CredentialID: CredentialRole]
    ) throws(ProvisioningProblem) -> ProvisioningFile.PlatformSettings {
        var fields = try StrictFields(json, path: path)
        let topic = try fields.text("topic")
        var map: [PushEnvironment: CredentialID] = [:]
        for environment in PushEnvironment.allCases {
            guard let name = try fields.optionalText(environment.rawValue) else { continue }
            guard let role = credentials[CredentialID(name)] else {
                throw ProvisioningProblem(
                    path: "\(path).\(environment.rawValue)",
                    problem: "unknown credential '\(name)'"
                )
            }
            guard case .push = role else {
                throw ProvisioningProblem(
                    path: "\(path).\(environment.rawValue)",
                    problem: "'\(name)' is an upstream; name a credential of kind apns-token or apns-certificate"
                )
            }
            map[environment] = CredentialID(name)
        }
        // One key may serve both of Apple's environments: an environment without its own key uses that of the other.
        for environment in PushEnvironment.allCases where map[environment] == nil {
            map[environment] = map[environment.other]
        }
        try fields.finish()
        return .init(topic: topic, credentials: map)
    }

    private func unique(_ names: [String], _ path: String, _ key: String) throws(ProvisioningProblem) {
        var seen: Set<String> = []
        for name in names where !seen.insert(name).inserted {
            throw ProvisioningProblem(path: path, problem: "\(key) '\(name)' appears twice")
        }
    }
}
