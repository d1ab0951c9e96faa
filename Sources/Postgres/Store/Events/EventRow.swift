package import Model
package import PostgresClient

/// Reads the rows of `EventSQL.page`.
package enum EventRow {
    package static func read(_ row: Row) throws(PostgresError) -> EventRecord {
        EventRecord(
            offset: try row.int64("position"),
            at: try row.time("at"),
            kind: try row.text("kind"),
            app: try row.id("app_id"),
            vendor: try row.optionalID("vendor"),
            sender: try row.optionalID("sender_id"),
            subject: EventSubject(
                message: try row.optionalID("message_id"),
                target: try row.optionalID("target_id"),
                identity: try row.optionalID("identity_id"),
                device: try row.optionalID("device_id"),
                address: try row.address("address"),
                user: try row.optionalID("user_id")
            ),
            reason: try row.optionalText("reason"),
            data: try row.optionalDocument("data")
        )
    }

    /// The statements of a page, in the order that `page` expects.
    package static func statements(
        _ tenant: TenantID,
        _ filter: EventFilter,
        after offset: Int64,
        limit: Int
    ) -> [Statement] {
        // An offset near the maximum of bigint would overflow in the server.
        let after = min(max(offset, 0), Int64.max - Int64(EventPage.window + StoreSQL.batchLimit))
        return [
            EventSQL.head(.id(tenant)),
            EventSQL.page(
                .id(tenant),
                .int64(after),
                .int(EventPage.window),
                .id(filter.app),
                .strings(filter.kinds),
                .int(max(1, limit)),
                .id(filter.vendor)
            ),
            EventSQL.generation(),
        ]
    }

    /// Builds the page from the results of the statements. The second sees at least the events up to the offset that the first returned.
    package static func page(
        _ results: [ResultSet],
        after offset: Int64,
        limit: Int
    ) throws(PostgresError) -> EventPage {
        let head = try results.result(0).first?.int64("last") ?? 0
        let events = try results.result(1).rows(read)
        let generation = try results.result(2).only().text("generation")
        let last = events.last?.offset ?? offset
        guard events.count < max(1, limit) else {
            return EventPage(events: events, through: last, head: max(head, last), generation: generation)
        }
        let looked = min(head, offset.addingReportingOverflow(Int64(EventPage.window)).partialValue)
        return EventPage(events: events, through: max(last, looked), head: max(head, last), generation: generation)
    }

    /// The three statements that load the facts for an export of `events`, in the order that `facts` expects.
    static func factStatements(_ tenant: TenantID, _ events: [EventRecord], data names: [String]) -> [Statement] {
        [
            EventSQL.identities(.id(tenant), .ids(Array(Set(events.compactMap(\.subject.identity))))),
            EventSQL.devices(.id(tenant), .ids(Array(Set(events.compactMap(\.subject.device))))),
            EventSQL.messages(.id(tenant), .ids(Array(Set(events.compactMap(\.subject.message)))), .strings(names)),
        ]
    }

    static func facts(_ results: [ResultSet]) throws(PostgresError) -> EventFacts {
        var facts = EventFacts()
        for row in try results.result(0) { facts.identities[try row.id("id")] = try identity(row) }
        for row in try results.result(1) { facts.devices[try row.id("id")] = try identity(row) }
        for row in try results.result(2) {
            let data = try row.optionalDocument("data")?.object ?? JSONObject()
            facts.messages[try row.id("id")] = EventFacts.Message(origin: try row.id("vendor"), data: data)
        }
        return facts
    }

    private static func identity(_ row: Row) throws(PostgresError) -> EventFacts.Identity {
        EventFacts.Identity(
            key: try row.optionalID("key"),
            user: try row.optionalID("user_id"),
            platform: try row.optionalText("platform").flatMap { Platform(rawValue: $0) },
            environment: try row.optionalText("environment").flatMap { PushEnvironment(rawValue: $0) },
            timeZone: try row.optionalText("time_zone").map { TimeZoneName(stored: $0) }
        )
    }
}
