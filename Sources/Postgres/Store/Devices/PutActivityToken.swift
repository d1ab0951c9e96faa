package import Model
package import PostgresClient

/// Stores a device's token for a Live Activity and replaces the previous one. Returns false if the device has `limit` tokens already.
package struct PutActivityToken: StoreWrite {
    let device: DeviceID
    let activity: ActivityReference
    let token: DeviceToken
    let at: Timestamp
    let limit: Int

    package init(_ device: DeviceID, _ activity: ActivityReference, _ token: DeviceToken, at: Timestamp, limit: Int) {
        self.device = device
        self.activity = activity
        self.token = token
        self.at = at
        self.limit = limit
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.tenant(
        """
        INSERT INTO gateway.activity_token AS t (tenant_id, device_id, kind, name, app_id, token, registered_at)
        SELECT $1, d.device_id, $3::text, $4::text, d.app_id, $5::text, $6::timestamptz FROM gateway.device d
        WHERE d.tenant_id = $1 AND d.device_id = $2 AND $7 > (
            SELECT count(*) FROM gateway.activity_token o
            WHERE o.tenant_id = $1 AND o.device_id = $2 AND (o.kind <> $3 OR o.name <> $4))
        ON CONFLICT (tenant_id, device_id, kind, name)
            DO UPDATE SET token = excluded.token, registered_at = excluded.registered_at
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(
            .id(call.tenant),
            .id(device),
            .text(activity.kind.rawValue),
            .text(activity.name),
            .text(token.text),
            .time(at),
            .int(limit)
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Bool { result.affectedRows > 0 }
}
