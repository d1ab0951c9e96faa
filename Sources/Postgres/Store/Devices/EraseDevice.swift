package import Model
package import PostgresClient

/// Erases a device, its identities and their names in its deliveries, and writes a row of the audit. Answers whether there was such a device.
package struct EraseDevice: StoreWrite {
    let device: DeviceID
    let actor: AuditActor

    package init(_ device: DeviceID, by actor: AuditActor) {
        self.device = device
        self.actor = actor
    }

    package var isAuditedBySchema: Bool { true }

    private static let sql = StoreSQL.function("erase_devices", 4, columns: "erase_devices AS count")

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .ids([device]), .string(actor.description), .string("device \(device)"))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Bool { try result.count() > 0 }
}
