package import Model
package import PostgresClient

/// Finds the devices of an app that have a token for a running Live Activity, at most `limit`.
package struct FindActivityDevices: StoreRead {
    let scope: AppScope
    let name: String
    let limit: Int

    package init(_ scope: AppScope, running name: String, limit: Int) {
        self.scope = scope
        self.name = name
        self.limit = limit
    }

    private static let sql = StoreSQL.tenant(
        """
        SELECT device_id FROM gateway.activity_token
        WHERE tenant_id = $1 AND app_id = $2 AND kind = 'running' AND name = $3 ORDER BY device_id LIMIT $4
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(scope.app), .text(name), .int(limit))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> [DeviceID] {
        try result.rows { (row) throws(PostgresError) in try row.id("device_id") }
    }
}
