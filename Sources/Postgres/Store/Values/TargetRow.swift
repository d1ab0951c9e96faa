package import Model
package import PostgresClient

/// Reads rows of identities with their devices as targets.
package enum TargetRow {
    package static func read(_ row: Row) throws(PostgresError) -> TargetFacts {
        let identity: IdentityID = try row.id("identity_id")
        var facts = TargetFacts(
            target: TargetID(identity),
            identity: identity,
            device: try row.optionalID("device_id"),
            app: try row.id("app_id"),
            vendor: try row.id("vendor"),
            key: try row.id("key"),
            person: TargetPerson(
                user: try row.optionalID("user_id"),
                name: try row.optionalText("name"),
                phone: try row.optionalText("phone")
            ),
            destination: PushDestination(
                platform: try row.word("platform"),
                environment: try row.word("environment"),
                token: try row.optionalText("token").map { DeviceToken(stored: $0) },
                tokenState: try row.word("token_state"),
                tokenRegisteredAt: try row.optionalTime("token_registered_at")
            ),
            identityState: try row.word("state"),
            acceptsPush: try row.bool("accepts_push"),
            clock: try ClockRow.read(row)
        )
        facts.assurance = Assurance(rank: try row.int("assurance"))
        facts.client = try row.optionalInt("client_number").map { Int64($0) }
        facts.firstKey = try row.optionalID("first_key")
        return facts
    }
}
