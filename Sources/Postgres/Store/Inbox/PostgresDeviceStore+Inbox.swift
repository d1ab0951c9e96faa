package import Model
import PostgresClient

/// One message of a device's history with its delivery.
package struct InboxItem: Sendable, Hashable {
    package var entry: InboxEntry
    package var delivery: DeliverySnapshot
    package var app: AppID
}

extension PostgresDeviceStore {
    /// Returns a device's history before `before`, newest first.
    ///
    /// - Throws: `StoreError`.
    package func inbox(
        of device: DeviceID,
        in tenant: TenantID,
        before: MessageID?,
        limit: Int
    ) async throws(StoreError) -> [InboxItem] {
        try await asStore { () throws(PostgresError) in
            let statement = DeviceInboxSQL.list(.id(tenant), .id(device), .id(before ?? .greatest), .int(max(0, limit)))
            return try await call.run(statement, tenant: tenant.rawValue).rows(Self.item)
        }
    }

    private static func item(_ row: Row) throws(PostgresError) -> InboxItem {
        let snapshot = try SnapshotRow.read(row)
        return InboxItem(
            entry: InboxEntry(
                notification: try NotificationRow.read(row),
                sender: try row.optionalID("sender_id"),
                receivedAt: snapshot.receivedAt,
                readAt: snapshot.readAt
            ),
            delivery: snapshot,
            app: try row.id("app_id")
        )
    }
}
