import DeliveryEngine
import EngineStore
import Model
import NativeHTTP
import Observability
import Outgoing
import PostgresClient
import Provisioning
import Secrets
import ServiceLifecycle
import Webhooks

extension GatewayNode {
    /// Sends the events of webhooks.
    func webhookDispatcher() -> any Service {
        let (secrets, keyRing, log) = (secrets, base.keyRing, WebhookLog(logger: base.logger))
        return WebhookDispatcher(
            store: PostgresWebhookStore(engine: base.database.engine),
            caller: HTTPWebhookCaller(addressGuard: webhooks.addresses),
            node: base.node,
            clock: ContinuousClock(),
            encode: { [callbacks = base.vendors.callbacks] vendor, deliveries, settings in
                callbacks[vendor]?.trackingCallback(for: deliveries, settings: settings)
            },
            open: { tenant, id, secret in secrets.open(secret, of: id, in: tenant) },
            derive: { keyRing.senderSecret($0, $1, $2, $3) },
            observe: { log.note($0) }
        )
    }
}
