import Model
import PostgresClient

/// Reads the rows of `DeviceSQL`.
enum DeviceRow {
    /// A device without its identities.
    static func device(_ row: Row) throws(PostgresError) -> DeviceFacts {
        DeviceFacts(
            id: try row.id("device_id"),
            app: try row.id("app_id"),
            platform: try row.word("platform"),
            environment: try row.word("environment"),
            token: try row.optionalText("token").map { DeviceToken(stored: $0) },
            tokenState: try row.word("token_state"),
            tokenRegisteredAt: try row.optionalTime("token_registered_at"),
            createdAt: try row.time("created_at"),
            seenAt: try row.optionalTime("seen_at"),
            clock: try ClockRow.read(row),
            identities: []
        )
    }

    static func identity(_ row: Row) throws(PostgresError) -> IdentityEntry {
        IdentityEntry(
            id: try row.id("identity_id"),
            vendor: try row.id("vendor"),
            key: try row.id("key"),
            state: try row.word("state"),
            user: try row.optionalID("user_id"),
            name: try row.optionalText("name"),
            phone: try row.optionalText("phone"),
            acceptsPush: try row.bool("accepts_push"),
            attributes: try row.object("attributes"),
            client: ClientFacts(try row.object("client")),
            registeredAt: try row.time("registered_at"),
            assurance: Assurance(rank: try row.int("assurance")),
            tags: try row.texts("tags").compactMap { Tag($0) }
        )
    }
}
