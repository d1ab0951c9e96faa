package import DeliveryEngine
package import Model
import PostgresClient
import Store

/// One tenant as a provisioning file lists it, secrets already hashed or sealed.
package struct ProvisionedTenant: Sendable, Hashable {
    package var id: TenantID
    package var apiKeys: [ProvisionedKey]
    package var credentials: [ProvisionedCredential]
    package var apps: [ProvisionedApp]
    package var retention: TenantRetention
    /// Over all nodes and credentials; nil: no limit.
    package var pushesPerSecond: Int32?

    package init(
        id: TenantID,
        apiKeys: [ProvisionedKey] = [],
        credentials: [ProvisionedCredential] = [],
        apps: [ProvisionedApp] = [],
        retention: TenantRetention = TenantRetention(),
        pushesPerSecond: Int32? = nil
    ) {
        self.id = id
        self.apiKeys = apiKeys
        self.credentials = credentials
        self.apps = apps
        self.retention = retention
        self.pushesPerSecond = pushesPerSecond
    }
}

/// An API key: its hash, never itself.
package struct ProvisionedKey: Sendable, Hashable {
    /// Unique within the tenant.
    package var name: String
    package var hash: [UInt8]
    /// Without commas: `send`, `devices`, `read`.
    package var scopes: [String]
    /// Nil: never.
    package var expiresAt: Timestamp?

    package init(name: String, hash: [UInt8], scopes: [String], expiresAt: Timestamp? = nil) {
        self.name = name
        self.hash = hash
        self.scopes = scopes
        self.expiresAt = expiresAt
    }
}

/// A transport's keys.
package struct ProvisionedCredential: Sendable, Hashable {
    package var id: CredentialID
    /// `apns-token` …
    package var kind: String
    package var teamID: String?
    package var keyID: String?
    /// Only to reach something else than the service itself: a simulator.
    package var endpoint: String?
    /// The same for the management of channels.
    package var channelEndpoint: String?
    /// PEM; nil: the system's.
    package var trustRoots: String?
    /// The secret, encrypted: other bytes at every sealing.
    package var sealed: [UInt8]
    /// A digest of the secret: tells whether it is another one.
    package var fingerprint: [UInt8]
    /// Over all nodes; nil: no limit.
    package var pushesPerSecond: Int32?

    package init(
        id: CredentialID,
        kind: String,
        teamID: String? = nil,
        keyID: String? = nil,
        endpoint: String? = nil,
        channelEndpoint: String? = nil,
        trustRoots: String? = nil,
        sealed: [UInt8],
        fingerprint: [UInt8],
        pushesPerSecond: Int32? = nil
    ) {
        self.id = id
        self.kind = kind
        self.teamID = teamID
        self.keyID = keyID
        self.endpoint = endpoint
        self.channelEndpoint = channelEndpoint
        self.trustRoots = trustRoots
        self.sealed = sealed
        self.fingerprint = fingerprint
        self.pushesPerSecond = pushesPerSecond
    }
}

/// An app with its platforms and the vendor keys that lead to it.
package struct ProvisionedApp: Sendable, Hashable {
    package var id: AppID
    package var platforms: [Platform: PlatformRoute]
    /// How long a message lives whose caller does not say; nil: the gateway's default.
    package var defaultTimeToLive: Duration?
    package var bindings: [ProvisionedBinding]
    package var timing: AppTiming

    package init(
        id: AppID,
        platforms: [Platform: PlatformRoute] = [:],
        defaultTimeToLive: Duration? = nil,
        bindings: [ProvisionedBinding] = [],
        timing: AppTiming = .none
    ) {
        self.id = id
        self.timing = timing
        self.platforms = platforms
        self.defaultTimeToLive = defaultTimeToLive
        self.bindings = bindings
    }
}

/// One vendor key that leads to an app. A vendor with several keys has several, with the same settings.
package struct ProvisionedBinding: Sendable, Hashable {
    package var key: BindingKey
    package var settings: JSONObject

    package init(key: BindingKey, settings: JSONObject = JSONObject()) {
        self.key = key
        self.settings = settings
    }
}

/// What an apply changed: rows written anew or differently.
package struct ProvisioningSummary: Sendable, Hashable {
    /// New ones, and those whose retention or rate is another.
    package var tenants = 0
    package var apps = 0
    package var credentials = 0
    package var bindings = 0
    package var apiKeys = 0
    /// What the file no longer lists.
    package var removed = 0

    package init() {}

    package var isChanged: Bool { tenants + apps + credentials + bindings + apiKeys + removed > 0 }
}

/// Why a provisioning file was not applied. Nothing of it was, then.
package enum ProvisioningError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Another tenant owns that vendor key.
    case bindingTaken(BindingKey)
    /// Another key, of this tenant or another, has that hash: the name of ours.
    case keyTaken(String)
    /// The file lists it twice.
    case duplicate(String)
    case store(StoreError)

    package var description: String {
        switch self {
        case .bindingTaken(let key): "the \(key.vendor) \(key.kind) \(key.value) belongs to another tenant"
        case .keyTaken(let name): "the secret of the API key \(name) is in use by another key"
        case .duplicate(let what): "\(what) is listed twice"
        case .store(let error): error.description
        }
    }
}
