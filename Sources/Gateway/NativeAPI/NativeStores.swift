package import EngineStore
package import Secrets
package import Store

/// The stores that operations of the native API read. All writes go through `CommandHandler`.
package struct NativeStores: Sendable {
    package let queries: PostgresQueryStore
    let devices: PostgresDeviceStore
    let audit: PostgresAuditStore
    let captures: PostgresCaptureStore
    /// Opens the secrets of the bindings that are read.
    let bindingSecrets: BindingSecrets

    package init(
        queries: PostgresQueryStore,
        devices: PostgresDeviceStore,
        audit: PostgresAuditStore,
        captures: PostgresCaptureStore,
        bindingSecrets: BindingSecrets
    ) {
        self.queries = queries
        self.devices = devices
        self.audit = audit
        self.captures = captures
        self.bindingSecrets = bindingSecrets
    }
}
