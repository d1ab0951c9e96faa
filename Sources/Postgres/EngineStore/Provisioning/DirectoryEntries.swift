package import DeliveryEngine
package import FoundationEssentials
package import Model
import PostgresClient
import Store

/// Where a vendor's key leads.
package struct ResolvedBinding: Sendable, Hashable {
    package var tenant: TenantID
    package var app: AppID
    package var settings: BindingSettings
}

/// Whose API key it is, and what it may.
package struct ResolvedKey: Sendable, Hashable {
    package var id: UUID
    package var tenant: TenantID
    package var name: String
    package var scopes: [String]
    package var expiresAt: Timestamp?
}

/// A credential as it is stored, its secret sealed.
package struct StoredCredential: Sendable, Hashable {
    package var key: CredentialKey
    package var kind: String
    package var teamID: String?
    package var keyID: String?
    package var endpoint: String?
    package var channelEndpoint: String?
    /// PEM.
    package var trustRoots: String?
    package var sealed: [UInt8]
    package var fingerprint: [UInt8]
    /// Grows when anything of it changes: the transport opens it anew.
    package var version: Int64
    /// The peer's word when it refused it; nil while it works.
    package var refusal: String?
    package var refusedAt: Timestamp?
    /// Over all nodes; nil: no limit.
    package var pushesPerSecond: Int32?
    /// Over all nodes and credentials of its tenant; nil: no limit.
    package var tenantPushesPerSecond: Int32?

    /// The budgets a push through it is taken from.
    package var rates: [PushRate] {
        (pushesPerSecond.map { [.credential(key.credential, $0)] } ?? [])
            + (tenantPushesPerSecond.map { [.tenant($0)] } ?? [])
    }
}

/// Whether a credential works, without its secret.
package struct CredentialStanding: Sendable, Hashable {
    package var kind: String
    /// The peer's word when it refused it; nil while it works.
    package var refusal: String?
    package var refusedAt: Timestamp?
}

/// What a credential is provisioned for: one platform of one app in one environment.
package struct CredentialAssignment: Sendable, Hashable {
    package var key: CredentialKey
    package var topic: String
    package var environment: PushEnvironment
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

/// Whose provider token it is. The fingerprint is of the private key: who only claims team and key meets another row.
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

/// A signed provider token, sealed.
package struct StoredProviderToken: Sendable, Hashable {
    package var sealed: [UInt8]
    /// Its `iat`, on the database's clock.
    package var issuedAt: Timestamp

    package init(sealed: [UInt8], issuedAt: Timestamp) {
        self.sealed = sealed
        self.issuedAt = issuedAt
    }
}

/// Which master key seals this database's secrets.
package struct MasterKeyCheck: Sendable, Hashable {
    package var keyID: String
    /// Only that key makes it.
    package var checkValue: [UInt8]

    package init(keyID: String, checkValue: [UInt8]) {
        self.keyID = keyID
        self.checkValue = checkValue
    }
}

/// An API key as a list shows it.
package struct StoredKey: Sendable, Hashable {
    package var id: UUID
    package var tenant: TenantID
    package var name: String
    package var scopes: [String]
    package var createdAt: Timestamp
    package var expiresAt: Timestamp?
    package var lastUsedAt: Timestamp?
    /// From the provisioning file.
    package var isProvisioned: Bool
}
