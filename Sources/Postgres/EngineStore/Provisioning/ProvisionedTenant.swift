package import DeliveryEngine
package import Model
import PostgresClient
import Store

/// One tenant of a provisioning file. Its secrets are already hashed or sealed.
package struct ProvisionedTenant: Sendable, Hashable {
    package var id: TenantID
    package var apiKeys: [ProvisionedKey]
    package var credentials: [ProvisionedCredential]
    package var apps: [ProvisionedApp]
    package var retention: TenantRetention
    /// Over all nodes and credentials. Nil: no limit.
    package var pushesPerSecond: Int32?
    /// The new versions of the rules of its apps: only those whose base differs from the stored one.
    package var routes: [RouteDraft]
    /// The stored credentials, not of the file, whose facts the check of these rules has used.
    package var checkedUpstreams: [CheckedUpstream]
    /// The facts about the upstreams among its credentials that rules need, in their stored form.
    package var upstreams: [CredentialID: JSON]

    package init(
        id: TenantID,
        apiKeys: [ProvisionedKey] = [],
        credentials: [ProvisionedCredential] = [],
        apps: [ProvisionedApp] = [],
        retention: TenantRetention = TenantRetention(),
        pushesPerSecond: Int32? = nil,
        routes: [RouteDraft] = [],
        checkedUpstreams: [CheckedUpstream] = [],
        upstreams: [CredentialID: JSON] = [:]
    ) {
        self.routes = routes
        self.checkedUpstreams = checkedUpstreams
        self.upstreams = upstreams
        self.id = id
        self.apiKeys = apiKeys
        self.credentials = credentials
        self.apps = apps
        self.retention = retention
        self.pushesPerSecond = pushesPerSecond
    }
}

/// An API key: its hash, never the key itself.
package struct ProvisionedKey: Sendable, Hashable {
    /// Unique within the tenant.
    package var name: String
    package var hash: [UInt8]
    /// Texts without commas (`KeyScope`): `send`, `devices`, `read:app/shop`.
    package var scopes: [String]
    /// Nil: it does not expire.
    package var expiresAt: Timestamp?
    /// The networks from which the key may be used (`AddressRange`). Empty: every network.
    package var networks: [String]
    /// The hash of a second secret of the key that is also valid. Nil: there is none.
    package var previousHash: [UInt8]?
    /// The recipients to whom it may send per UTC day. Nil: any number.
    package var recipientsPerDay: Int32?

    package init(
        name: String,
        hash: [UInt8],
        scopes: [String],
        expiresAt: Timestamp? = nil,
        networks: [String] = [],
        previousHash: [UInt8]? = nil,
        recipientsPerDay: Int32? = nil
    ) {
        self.name = name
        self.hash = hash
        self.scopes = scopes
        self.expiresAt = expiresAt
        self.networks = networks
        self.previousHash = previousHash
        self.recipientsPerDay = recipientsPerDay
    }
}

/// The keys of a transport.
package struct ProvisionedCredential: Sendable, Hashable {
    package var id: CredentialID
    /// `apns-token`, `apns-certificate`, `upstream-` and a vendor.
    package var kind: String
    package var teamID: String?
    package var keyID: String?
    /// Of an upstream: its address. Of a credential of the push service: set only to reach another server than the service itself, such as a simulator.
    package var endpoint: String?
    /// Replaces the address for the management of channels.
    package var channelEndpoint: String?
    /// In PEM format. Nil: those of the system.
    package var trustRoots: String?
    /// The encrypted secret. Each sealing produces different bytes.
    package var sealed: [UInt8]
    /// A digest of the secret, which shows whether the secret has changed.
    package var fingerprint: [UInt8]
    /// Over all nodes; of an upstream, its calls. Nil: no limit.
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
    /// The lifetime of messages whose caller does not specify one. Nil: the gateway's default.
    package var defaultTimeToLive: Duration?
    package var bindings: [ProvisionedBinding]
    package var timing: AppTiming
    package var assurance: AssuranceRules
    /// Messages to more recipients need an approval. Nil: none does.
    package var approvalAbove: Int?
    /// Whether a vendor's sends reach the identities of other vendors.
    package var crossesDialects: Bool
    /// The quotas that differ from the defaults (`Quota.ofApps`).
    package var quotas: [Quota: Int]
    package var senders: [ProvisionedSender]

    package init(
        id: AppID,
        platforms: [Platform: PlatformRoute] = [:],
        defaultTimeToLive: Duration? = nil,
        bindings: [ProvisionedBinding] = [],
        timing: AppTiming = .none,
        assurance: AssuranceRules = .none,
        approvalAbove: Int? = nil,
        crossesDialects: Bool = false,
        quotas: [Quota: Int] = [:],
        senders: [ProvisionedSender] = []
    ) {
        self.id = id
        self.timing = timing
        self.assurance = assurance
        self.approvalAbove = approvalAbove
        self.crossesDialects = crossesDialects
        self.quotas = quotas
        self.senders = senders
        self.platforms = platforms
        self.defaultTimeToLive = defaultTimeToLive
        self.bindings = bindings
    }
}

/// A back end that is registered by the file. It counts as one that has proved itself.
package struct ProvisionedSender: Sendable, Hashable {
    package var vendor: Vendor
    /// Unique within the app and the vendor.
    package var name: String
    /// Nil: the stored one, or a new one.
    package var id: SenderID?

    package init(vendor: Vendor, name: String, id: SenderID? = nil) {
        self.vendor = vendor
        self.name = name
        self.id = id
    }
}

/// One vendor key that leads to an app. A binding with several keys is stored as several of these, with the same settings.
package struct ProvisionedBinding: Sendable, Hashable {
    package var key: BindingKey
    package var settings: JSONObject

    package init(key: BindingKey, settings: JSONObject = JSONObject()) {
        self.key = key
        self.settings = settings
    }
}

/// The changes of an apply: the numbers of rows that were created or changed.
package struct ProvisioningSummary: Sendable, Hashable {
    /// New tenants, and tenants whose retention or rate has changed.
    package var tenants = 0
    package var apps = 0
    package var credentials = 0
    package var bindings = 0
    package var apiKeys = 0
    package var senders = 0
    /// New versions of the rules of apps.
    package var routes = 0
    /// Objects that the file does not list any longer.
    package var removed = 0
    /// Consequences of the file that its author may not expect, one sentence each. Not changes.
    package var warnings: [String] = []

    package init() {}

    package var isChanged: Bool { tenants + apps + credentials + bindings + apiKeys + senders + routes + removed > 0 }
}

/// Why a provisioning file was not applied. Nothing of the file was applied then.
package enum ProvisioningError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The vendor key belongs to another tenant.
    case bindingTaken(BindingKey)
    /// Another key, of any tenant, has the same hash. Contains the name of the key in the file.
    case keyTaken(String)
    /// The sender is stored with another id, or its id with another name. Contains the name in the file.
    case senderTaken(String)
    /// The file lists an object twice.
    case duplicate(String)
    /// The object of this kind (`key`, `credential`, `app`, `binding`) was created through the API, or the key by a command.
    case createdOtherwise(kind: String, name: String)
    /// The file does not list the credential any longer, or as an upstream, and an app that was created through the API uses it.
    case usedOtherwise(CredentialID, by: AppID)
    /// The file does not list the credential any longer, or as an upstream of another vendor or with other facts, and the rules in force of an app name it.
    case routesName(CredentialID, of: AppID)
    /// The rules of an app, or a credential that they name, have changed since they were read. Nothing was written.
    case routesChanged
    /// Another master key seals than the one that sealed the secrets of the file. Nothing was written.
    case masterKeyReplaced
    case store(StoreError)

    package var description: String {
        switch self {
        case .bindingTaken(let key): "the \(key.vendor) \(key.kind) \(key.value) belongs to another tenant"
        case .keyTaken(let name): "the secret of the API key \(name) is in use by another key"
        case .senderTaken(let name): "the sender \(name) is known by another id, or its id by another name"
        case .duplicate(let what): "\(what) is listed twice"
        case .createdOtherwise("key", let name):
            "the API key \(name) was created through the API or by a command, and a file does not change it: give the key of the file "
                + "another name, or revoke that one first (DELETE /v1/keys/\(name), push-gateway key revoke)"
        case .createdOtherwise("binding", let name):
            "the binding \(name) was created through the API, and a file does not change it: remove it from the file, or delete it "
                + "through the API first (DELETE /v1/apps/APP/bindings/VENDOR)"
        case .createdOtherwise(let kind, let name):
            "the \(kind) \(name) was created through the API, and a file does not change it: remove it from the file, or delete it "
                + "through the API first (DELETE /v1/\(kind)s/\(name))"
        case .usedOtherwise(let credential, let app):
            "the file does not list the credential \(credential) as one of the push service, which the app \(app) of "
                + "the API uses: list it, or change the app first"
        case .routesName(let credential, let app):
            "the file does not list the credential \(credential) as an upstream of the same vendor whose sends name the same kind of "
                + "targets, which the routes of the app \(app) name: list it, or change the routes first (docs/routing.md)"
        case .routesChanged: "the routes of an app have changed meanwhile; repeat the command"
        case .masterKeyReplaced: "the master key is being replaced; repeat the command"
        case .store(let error): error.description
        }
    }
}
