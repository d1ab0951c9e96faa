import DeliveryEngine
import EngineStore
import Foundation
import Model
import NativeHTTP
import Provisioning
import Secrets
import Store

/// The stores of the native API.
extension GatewayNode {
    func nativeStores(_ queries: PostgresQueryStore) -> NativeStores {
        let engine = base.database.engine
        var stores = NativeStores(
            queries: queries,
            devices: PostgresDeviceStore(call: base.database.call),
            audit: PostgresAuditStore(call: base.database.call),
            captures: provisioning.captures,
            bindingSecrets: BindingSecrets(base.keyRing),
            webhookSecrets: PostgresWebhookSecretStore(engine: engine),
            keys: PostgresKeyStore(engine: engine),
            operators: PostgresOperatorStore(engine: engine),
            audiences: PostgresAudienceCounter(engine: engine),
            objects: ObjectProvisioner(
                store: PostgresObjectStore(engine: engine),
                directory: base.directory,
                keyRing: base.keyRing,
                vendors: base.vendors
            ),
            migrations: migrations(),
            keyRing: base.keyRing
        )
        stores.posture = posture(PostgresKeyStore(engine: engine))
        return stores
    }

    /// 2,000 bindings: more than a tenant may have by calls.
    private static let bindingLimit = 2000

    /// The weak points of this node and of one tenant, as `doctor --security` reports them.
    private func posture(_ keys: PostgresKeyStore) -> PostureReading {
        let base = base
        return { (tenant) async throws(StoreError) in
            let bindings = try await base.directory.bindings(of: tenant, limit: Self.bindingLimit)
            return SecurityPosture(
                configuration: base.configuration,
                vendors: base.vendors,
                bindings: bindings,
                keys: try await keys.list(tenant),
                now: base.clock.now(),
                masterKeyForm: base.keyRing.current.form,
                isRoot: geteuid() == 0
            ).findings
        }
    }
}
