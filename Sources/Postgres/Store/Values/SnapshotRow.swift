package import Model
package import PostgresClient

/// Reads rows of deliveries with the columns of `StoreSQL.snapshotColumns` or of `gateway.reported_delivery`.
package enum SnapshotRow {
    /// The delivery.
    package static func read(_ row: Row) throws(PostgresError) -> DeliverySnapshot {
        DeliverySnapshot(
            message: try row.id("message_id"),
            target: try row.id("target_id"),
            identity: try row.optionalID("identity_id"),
            address: try row.address("address"),
            state: try row.word("state"),
            reason: try row.optionalText("reason"),
            sentAt: try row.optionalTime("sent_at"),
            receivedAt: try row.optionalTime("received_at"),
            readAt: try row.optionalTime("read_at"),
            isReserved: try row.bool("is_reserved"),
            fallback: try row.optionalDocument("fallback")
        )
    }
}

/// Reads rows of messages with the columns of `StoreSQL.messageColumns`.
package enum NotificationRow {
    /// The message in the form that adapters need.
    package static func read(_ row: Row) throws(PostgresError) -> Notification {
        Notification(
            message: try row.id("message_id"),
            origin: try row.id("vendor"),
            content: ContentCoding.decode(try row.object("content")),
            sentAt: try row.time("due_at"),
            expiresAt: try row.time("expires_at"),
            collapseID: try row.optionalText("collapse_id"),
            numbers: NumberRow.read(try row.object("numbers"))
        )
    }
}

/// Reads the numbers of one message: an object of dialects and texts.
package enum NumberRow {
    package static func read(_ object: JSONObject) -> [Vendor: String] {
        var numbers: [Vendor: String] = [:]
        for (vendor, number) in object.pairs { numbers[Vendor(vendor)] = number.string }
        return numbers
    }
}
