import EngineStore
import NativeHTTP
import Provisioning
import Secrets
import Store

/// The stores of the native API.
extension GatewayNode {
    func nativeStores(_ queries: PostgresQueryStore) -> NativeStores {
        let engine = base.database.engine
        return NativeStores(
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
    }
}
