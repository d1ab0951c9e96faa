import Crypto
import DeliveryEngine
import EngineStore
import Model
import Secrets

/// Checks and seals the objects of a provisioning file, or of a call of the API, in the form in which they are stored.
struct ProvisioningSealer {
    let keyRing: KeyRing

    func provisioned(_ tenant: ProvisioningFile.Tenant) throws -> ProvisionedTenant {
        ProvisionedTenant(
            id: tenant.id,
            apiKeys: tenant.apiKeys.map {
                ProvisionedKey(
                    name: $0.name,
                    hash: APIKeys.hash($0.secret),
                    scopes: $0.scopes,
                    expiresAt: $0.expiresAt,
                    networks: $0.networks,
                    previousHash: $0.previousSecret.map(APIKeys.hash),
                    recipientsPerDay: $0.recipientsPerDay
                )
            },
            credentials: try tenant.credentials.map { try provisioned($0, tenant: tenant.id) },
            apps: try tenant.apps.map { try provisioned($0, tenant: tenant.id) },
            retention: tenant.retention,
            pushesPerSecond: tenant.pushesPerSecond
        )
    }

    func provisioned(_ app: ProvisioningFile.App, tenant: TenantID) throws -> ProvisionedApp {
        ProvisionedApp(
            id: app.id,
            platforms: app.platforms.mapValues { PlatformRoute(topic: $0.topic, credentials: $0.credentials) },
            defaultTimeToLive: nil,
            bindings: try app.bindings.flatMap { try bindings($0, of: app, in: tenant) },
            timing: app.timing,
            assurance: app.assurance,
            approvalAbove: app.approvalAbove,
            crossesDialects: app.crossesDialects,
            quotas: app.quotas,
            senders: app.bindings.flatMap(senders)
        )
    }

    /// - Throws: `ProvisioningProblem` when the credential cannot be used, `MasterKeyError`.
    func provisioned(_ credential: ProvisioningFile.Credential, tenant: TenantID) throws -> ProvisionedCredential {
        let key = CredentialKey(tenant: tenant, credential: credential.id)
        try CredentialCheck.require(credential)
        let secret = credential.secret.sealedForm
        return ProvisionedCredential(
            id: credential.id,
            kind: credential.secret.kind,
            teamID: credential.teamID,
            keyID: credential.keyID,
            endpoint: credential.endpoint,
            channelEndpoint: credential.channelEndpoint,
            trustRoots: credential.trustRoots.map { String(decoding: $0, as: UTF8.self) },
            sealed: try keyRing.seal(secret, context: SealContext.credential(key)),
            fingerprint: Array(SHA256.hash(data: secret)),
            pushesPerSecond: credential.pushesPerSecond
        )
    }

    private func senders(_ binding: ProvisioningFile.Binding) -> [ProvisionedSender] {
        binding.content.senders.map { ProvisionedSender(vendor: binding.vendor, name: $0.name, id: $0.id) }
    }

    private func bindings(_ binding: ProvisioningFile.Binding, of app: ProvisioningFile.App, in tenant: TenantID) throws
        -> [ProvisionedBinding]
    {
        let sealed = try BindingSecrets(keyRing).sealed(
            binding.secrets,
            of: app.id,
            in: tenant,
            vendor: binding.vendor
        )
        return binding.keys.map { key in
            var settings = binding.settings
            settings[BindingSecrets.key] = sealed
            settings[UserTokenRules.settingsKey] = app.userTokens?.json
            if app.crossesDialects { settings[BindingSettings.crossingKey] = true }
            // The adapter cannot look up the account of a service id, so that the settings contain both.
            for other in binding.keys where settings["\(other.kind)Id"] == nil {
                settings["\(other.kind)Id"] = .string(other.value)
            }
            return ProvisionedBinding(
                key: BindingKey(vendor: binding.vendor, kind: key.kind, value: key.value, host: binding.host),
                settings: settings
            )
        }
    }
}
