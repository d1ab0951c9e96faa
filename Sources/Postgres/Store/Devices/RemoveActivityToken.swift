package import Model
package import PostgresClient

/// Removes a device's token for a Live Activity. Returns the number of removed tokens, 0 or 1.
package struct RemoveActivityToken: StoreWrite {
    let device: DeviceID
    let activity: ActivityReference

    package init(_ device: DeviceID, _ activity: ActivityReference) {
        self.device = device
        self.activity = activity
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.tenant(
        "DELETE FROM gateway.activity_token WHERE tenant_id = $1 AND device_id = $2 AND kind = $3 AND name = $4"
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(device), .text(activity.kind.rawValue), .text(activity.name))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Int { result.affectedRows }
}
