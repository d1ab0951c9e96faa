package import DeliveryEngine
package import FoundationEssentials
package import Model
import PostgresClient
import Store

/// The tenant and app to which a vendor's key leads.
package struct ResolvedBinding: Sendable, Hashable {
    package var tenant: TenantID
    package var app: AppID
    package var settings: BindingSettings
    /// The version of the app's rules; nil: it has none.
    package var routeVersion: Int? = nil
    /// Whether identities of the app may have a first key.
    package var hasFirstKeys = false
}

/// An app's binding to a vendor, with its settings.
package struct StoredBinding: Sendable, Hashable {
    package var tenant: TenantID
    package var app: AppID
    package var vendor: Vendor
    package var settings: JSONObject
    /// The levels that messages of the app need.
    package var assurance: AssuranceRules

    package init(
        tenant: TenantID,
        app: AppID,
        vendor: Vendor,
        settings: JSONObject,
        assurance: AssuranceRules = .none
    ) {
        self.tenant = tenant
        self.app = app
        self.vendor = vendor
        self.settings = settings
        self.assurance = assurance
    }
}

/// The tenant of an API key, and the key's scopes.
package struct ResolvedKey: Sendable, Hashable {
    package var id: UUID
    package var tenant: TenantID
    package var name: String
    package var scopes: [String]
    package var expiresAt: Timestamp?
    /// Empty: every network.
    package var networks: [String]
    /// Nil: any number.
    package var recipientsPerDay: Int?
    /// Since when the secret by which it was found is the key's.
    package var secretAt: Timestamp
}

/// A stored credential with its sealed secret.
package struct StoredCredential: Sendable, Hashable {
    package var key: CredentialKey
    package var kind: String
    package var teamID: String?
    package var keyID: String?
    package var endpoint: String?
    package var channelEndpoint: String?
    /// In PEM format.
    package var trustRoots: String?
    package var sealed: [UInt8]
    package var fingerprint: [UInt8]
    /// Grows with every change. The transport then reopens the credential.
    package var version: Int64
    /// The reason for which the peer refused the credential; nil while it works.
    package var refusal: String?
    package var refusedAt: Timestamp?
    /// Over all nodes. Nil: no limit.
    package var pushesPerSecond: Int32?
    /// Over all nodes and credentials of the tenant. Nil: no limit.
    package var tenantPushesPerSecond: Int32?
    package var origin: ObjectOrigin
    /// When the secret was stored. Nil: before this time was kept.
    package var storedAt: Timestamp?

    /// The vendor whose real service the credential is for; nil: it is one of the push service.
    package var upstream: Vendor? { UpstreamKind.vendor(of: kind) }

    /// The rate limits that apply to a push through this credential.
    package var rates: [PushRate] {
        (pushesPerSecond.map { [.credential(key.credential, $0)] } ?? [])
            + (tenantPushesPerSecond.map { [.tenant($0)] } ?? [])
    }
}

/// Whether a credential works, without its secret.
package struct CredentialStanding: Sendable, Hashable {
    package var kind: String
    /// The reason for which the peer refused the credential; nil while it works.
    package var refusal: String?
    package var refusedAt: Timestamp?
}

/// The platform, app and environment for which a credential is provisioned.
package struct CredentialAssignment: Sendable, Hashable, Comparable {
    package var key: CredentialKey
    package var topic: String
    package var environment: PushEnvironment

    /// By topic and environment, as lists show the uses of one credential.
    package static func < (left: CredentialAssignment, right: CredentialAssignment) -> Bool {
        (left.topic, left.environment.rawValue) < (right.topic, right.environment.rawValue)
    }
}

/// A credential with its uses. Its secret is sealed.
package struct ListedCredential: Sendable, Hashable {
    package var stored: StoredCredential
    package var uses: [CredentialAssignment]
}

/// One use of an API key.
package struct KeyUse: Sendable, Hashable {
    package var tenant: TenantID
    package var key: UUID
    package var at: Timestamp

    package init(tenant: TenantID, key: UUID, at: Timestamp) {
        self.tenant = tenant
        self.key = key
        self.at = at
    }
}

/// Identifies a provider token. The fingerprint is that of the private key: a forged team and key id lead to a different row.
package struct ProviderTokenKey: Sendable, Hashable {
    package var teamID: String
    package var keyID: String
    package var fingerprint: [UInt8]

    package init(teamID: String, keyID: String, fingerprint: [UInt8]) {
        self.teamID = teamID
        self.keyID = keyID
        self.fingerprint = fingerprint
    }
}

/// A sealed, signed provider token.
package struct StoredProviderToken: Sendable, Hashable {
    package var sealed: [UInt8]
    /// The token's `iat`, on the database's clock.
    package var issuedAt: Timestamp

    package init(sealed: [UInt8], issuedAt: Timestamp) {
        self.sealed = sealed
        self.issuedAt = issuedAt
    }
}

/// Identifies the master key that seals the secrets of this database.
package struct MasterKeyCheck: Sendable, Hashable {
    package var keyID: String
    /// A value that only this master key produces.
    package var checkValue: [UInt8]
    /// The secret from which the secrets of senders and the key of the audit are derived, sealed. Nil until the first rotation: it is derived from the key.
    package var root: [UInt8]?
    /// The key that will seal next, which every node needs first.
    package var wanted: String?

    package init(keyID: String, checkValue: [UInt8], root: [UInt8]? = nil, wanted: String? = nil) {
        self.keyID = keyID
        self.checkValue = checkValue
        self.root = root
        self.wanted = wanted
    }
}

/// An API key in a list.
package struct StoredKey: Sendable, Hashable {
    package var id: UUID
    package var tenant: TenantID
    package var name: String
    package var scopes: [String]
    package var createdAt: Timestamp
    package var expiresAt: Timestamp?
    package var lastUsedAt: Timestamp?
    package var networks: [String]
    /// The recipients to whom it may send per UTC day; nil: any number.
    package var recipientsPerDay: Int?
    /// The recipients of this UTC day; nil: the key has no limit.
    package var recipientsToday: Int?
    /// Whether a second secret of the key is also valid.
    package var hasPrevious: Bool
    /// When the second secret ends; nil: with the key.
    package var previousUntil: Timestamp?
    /// Whether the key is from the provisioning file.
    package var isProvisioned: Bool
    /// Since when its secret is the key's; nil: since the key was created.
    package var secretAt: Timestamp? = nil
    /// Since when its second secret is the key's; nil: there is none, or since the key was created.
    package var previousAt: Timestamp? = nil

    /// A network that this program cannot read is left out; the key itself is then refused everywhere.
    package var rights: KeyRights {
        KeyRights(
            scopes: KeyScopes(scopes),
            networks: networks.compactMap { AddressRange($0) },
            expiresAt: expiresAt,
            recipientsPerDay: recipientsPerDay
        )
    }
}
