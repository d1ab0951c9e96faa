package import Model
package import PostgresClient

/// Replaces the tags of all active identities of a device. Answers with the number of identities.
package struct TagDevice: StoreWrite {
    let device: DeviceID
    let tags: [Tag]

    package init(_ device: DeviceID, _ tags: [Tag]) {
        self.device = device
        self.tags = tags
    }

    private static let sql = StoreSQL.function("tag_device", 3, columns: "tag_device AS count")

    package func statement(_ call: StoreCall) -> Statement { Self.sql(.id(call.tenant), .id(device), .tags(tags)) }

    package func read(_ result: ResultSet) throws(PostgresError) -> Int { try result.count() }
}
