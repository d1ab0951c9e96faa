package import Model
import PostgresClient

/// The event log.
extension PostgresQueryStore {
    /// The tenant's events after `offset` that `filter` wants, in order.
    ///
    /// - Throws: `StoreError`.
    package func events(
        in tenant: TenantID,
        after offset: Int64,
        limit: Int,
        filter: EventFilter = EventFilter()
    ) async throws(StoreError) -> EventPage {
        try await asStore { () throws(PostgresError) in
            let statements = EventRow.statements(tenant, filter, after: offset, limit: limit)
            return try EventRow.page(
                // A reader goes on from what it was told, so nothing it is told may be lost.
                try await call.run(Transaction(tenant: tenant.rawValue, statements, flushes: true)),
                after: offset,
                limit: limit
            )
        }
    }

    /// What an export of `events` tells beside them, of messages' data the members that are named; of what is gone there is nothing.
    ///
    /// - Throws: `StoreError`.
    package func eventFacts(
        of events: [EventRecord],
        data names: [String],
        in tenant: TenantID
    ) async throws(StoreError) -> EventFacts {
        try await asStore { () throws(PostgresError) in
            let statements = EventRow.factStatements(tenant, events, data: names)
            return try EventRow.facts(try await call.run(Transaction(tenant: tenant.rawValue, statements)))
        }
    }

    /// What of the tenant's log can be read.
    ///
    /// - Throws: `StoreError`.
    package func eventBounds(in tenant: TenantID) async throws(StoreError) -> EventBounds {
        try await asStore { () throws(PostgresError) in
            let row = try await call.run(EventSQL.bounds(.id(tenant)), tenant: tenant.rawValue).only()
            return EventBounds(first: try row.int64("first"), head: try row.int64("head"))
        }
    }
}
