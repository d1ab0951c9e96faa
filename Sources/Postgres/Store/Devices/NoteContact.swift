package import Model
package import PostgresClient

/// Records contact with a device. Returns the number of devices with that key: 0 or 1.
package struct NoteContact: StoreWrite {
    let scope: AppScope
    let key: VendorDeviceKey
    let at: Timestamp

    package init(_ scope: AppScope, key: VendorDeviceKey, at: Timestamp) {
        self.scope = scope
        self.key = key
        self.at = at
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.tenant(
        """
        UPDATE gateway.device d SET seen_at = greatest(d.seen_at, $5) FROM gateway.identity i
        WHERE d.tenant_id = $1 AND i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.key = $4
            AND i.state = 'active' AND d.device_id = i.device_id
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(scope.app), .id(scope.vendor), .id(key), .time(at))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Int { result.affectedRows }
}
