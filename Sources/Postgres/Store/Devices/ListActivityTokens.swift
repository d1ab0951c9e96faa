package import Model
package import PostgresClient

/// Lists a device's tokens for Live Activities: the push-to-start tokens, then those of running activities, each by name.
package struct ListActivityTokens: StoreRead {
    let device: DeviceID

    package init(_ device: DeviceID) { self.device = device }

    private static let sql = StoreSQL.tenant(
        """
        SELECT kind, name, token, registered_at FROM gateway.activity_token
        WHERE tenant_id = $1 AND device_id = $2 ORDER BY kind DESC, name
        """
    )

    package func statement(_ call: StoreCall) -> Statement { Self.sql(.id(call.tenant), .id(device)) }

    package func read(_ result: ResultSet) throws(PostgresError) -> [ActivityToken] {
        try result.rows { (row) throws(PostgresError) in
            ActivityToken(
                activity: ActivityReference(try row.word("kind"), try row.text("name")),
                token: DeviceToken(stored: try row.text("token")),
                registeredAt: try row.time("registered_at")
            )
        }
    }
}
