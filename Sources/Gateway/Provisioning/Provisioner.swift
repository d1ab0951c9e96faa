import Adapters
import Crypto
import DeliveryEngine
package import EngineStore
import Foundation
package import Model
package import Secrets
package import Store

/// Applies a provisioning file: reads, checks and seals it, and stores it in one transaction.
package struct Provisioner: Sendable {
    let store: PostgresProvisioningStore
    let directory: PostgresDirectory
    let keyRing: KeyRing
    let vendors: VendorCatalog

    package init(
        store: PostgresProvisioningStore,
        directory: PostgresDirectory,
        keyRing: KeyRing,
        vendors: VendorCatalog = .product
    ) {
        self.store = store
        self.directory = directory
        self.keyRing = keyRing
        self.vendors = vendors
    }

    /// - Throws: `ProvisioningProblem` for the file, `ProvisioningError` for the stored objects, `MasterKeyError`.
    package func apply(
        fileAt path: String,
        allowsInlineSecrets: Bool,
        by actor: AuditActor = .provisioning
    ) async throws -> ProvisioningSummary {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ProvisioningProblem(path: "", problem: "cannot read \(path)")
        }
        let directory = (path as NSString).deletingLastPathComponent
        let reader = ProvisioningReader(
            directory: directory.isEmpty ? "." : directory,
            environment: ProcessInfo.processInfo.environment,
            allowsInlineSecrets: allowsInlineSecrets,
            vendors: vendors
        )
        let file = try reader.read(String(decoding: data, as: UTF8.self))
        var summary = try await stored(file, by: actor)
        summary.warnings =
            SenderWarnings(vendors: vendors).warnings(of: file) + DefaultWarnings(vendors: vendors).warnings(of: file)
            + ContentWarnings.warnings(of: file)
        return summary
    }

    /// Two attempts: a rotation may replace the master key between sealing and storing.
    private static let attempts = 2

    private func stored(_ file: ProvisioningFile, by actor: AuditActor) async throws -> ProvisioningSummary {
        var attempt = 0
        while true {
            attempt += 1
            try await checkMasterKey()
            let key = keyRing.current.id
            let tenants = try file.tenants.map { try provisioned($0) }
            do throws(ProvisioningError) {
                return try await store.apply(tenants, sealedBy: key, by: actor)
            } catch {
                guard error == .masterKeyReplaced, attempt < Self.attempts else { throw error }
            }
        }
    }

    /// Seals with the key that this database names, which is the newest one of this node if it names none yet.
    ///
    /// - Throws: `MasterKeyError.mismatch` when this node does not have that key, `StoreError`.
    package func checkMasterKey() async throws { try await keyRing.bind(to: directory) }

    private func provisioned(_ tenant: ProvisioningFile.Tenant) throws -> ProvisionedTenant {
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
            apps: try tenant.apps.map { app in
                ProvisionedApp(
                    id: app.id,
                    platforms: app.platforms.mapValues { PlatformRoute(topic: $0.topic, credentials: $0.credentials) },
                    defaultTimeToLive: nil,
                    bindings: try app.bindings.flatMap { try bindings($0, of: app, in: tenant.id) },
                    timing: app.timing,
                    assurance: app.assurance,
                    approvalAbove: app.approvalAbove,
                    quotas: app.quotas,
                    senders: app.bindings.flatMap(senders)
                )
            },
            retention: tenant.retention,
            pushesPerSecond: tenant.pushesPerSecond
        )
    }

    private func provisioned(_ credential: ProvisioningFile.Credential, tenant: TenantID) throws
        -> ProvisionedCredential
    {
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
