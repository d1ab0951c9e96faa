package import EngineStore
package import Migrations
package import Provisioning
package import Secrets
package import Store

/// The stores that operations of the native API read. All writes go through `CommandHandler`, except those of API keys, apps, their rules, credentials and the
/// secrets of webhooks, which its role may not change.
package struct NativeStores: Sendable {
    package let queries: PostgresQueryStore
    let devices: PostgresDeviceStore
    let audit: PostgresAuditStore
    let captures: PostgresCaptureStore
    /// Opens the secrets of the bindings that are read.
    let bindingSecrets: BindingSecrets
    /// Replaces the secrets of webhooks.
    let webhookSecrets: PostgresWebhookSecretStore
    let keys: PostgresKeyStore
    let operators: PostgresOperatorStore
    let audiences: PostgresAudienceCounter
    /// Writes apps and credentials.
    let objects: ObjectProvisioner
    /// Checks and writes the rules of apps.
    var routes: RouteProvisioner { migrations.routes }
    /// Plans and changes migrations of apps.
    let migrations: MigrationProvisioner
    /// Opens credentials, to check them.
    let keyRing: KeyRing
    /// The node sets it: its own settings are among the weak points.
    package var posture: PostureReading = { (_) in [] }

    package init(
        queries: PostgresQueryStore,
        devices: PostgresDeviceStore,
        audit: PostgresAuditStore,
        captures: PostgresCaptureStore,
        bindingSecrets: BindingSecrets,
        webhookSecrets: PostgresWebhookSecretStore,
        keys: PostgresKeyStore,
        operators: PostgresOperatorStore,
        audiences: PostgresAudienceCounter,
        objects: ObjectProvisioner,
        migrations: MigrationProvisioner,
        keyRing: KeyRing
    ) {
        self.queries = queries
        self.devices = devices
        self.audit = audit
        self.captures = captures
        self.bindingSecrets = bindingSecrets
        self.webhookSecrets = webhookSecrets
        self.keys = keys
        self.operators = operators
        self.audiences = audiences
        self.objects = objects
        self.migrations = migrations
        self.keyRing = keyRing
    }
}
