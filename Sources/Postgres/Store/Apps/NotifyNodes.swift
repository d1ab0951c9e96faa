package import PostgresClient

/// Tells the nodes at the commit that tenants, credentials, bindings, API keys or captures changed.
package struct NotifyNodes: StoreWrite {
    package init() {}

    package static let sql = StoreSQL.global("SELECT pg_notify('gateway_provisioning', '')")

    package func statement(_ call: StoreCall) -> Statement { Self.sql() }

    package func read(_ result: ResultSet) throws(PostgresError) {}
}
