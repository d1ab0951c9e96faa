package import EngineStore
package import Store

/// The stores that operations of the native API read. All writes go through `CommandHandler`.
package struct NativeStores: Sendable {
    package let queries: PostgresQueryStore
    let devices: PostgresDeviceStore
    let audit: PostgresAuditStore
    let captures: PostgresCaptureStore

    package init(
        queries: PostgresQueryStore,
        devices: PostgresDeviceStore,
        audit: PostgresAuditStore,
        captures: PostgresCaptureStore
    ) {
        self.queries = queries
        self.devices = devices
        self.audit = audit
        self.captures = captures
    }
}
