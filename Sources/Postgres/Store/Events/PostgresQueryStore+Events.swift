package import Model
import PostgresClient

/// Reads the event log.
extension PostgresQueryStore {
    /// Returns the tenant's events after `offset` that `filter` selects, in order.
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
                // A reader continues after the last offset that it received, so everything that it received must be on disk.
                try await call.run(Transaction(tenant: tenant.rawValue, statements, flushes: true)),
                after: offset,
                limit: limit
            )
        }
    }

    /// Returns the facts for an export of `events`, with the named members of messages' data. Rows that were deleted meanwhile are missing.
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

    /// Returns the generation of the log, in which offsets are valid.
    ///
    /// - Throws: `StoreError`.
    package func eventGeneration() async throws(StoreError) -> String {
        try await asStore { () throws(PostgresError) in
            try await call.run(EventSQL.generation(), tenant: nil).only().text("generation")
        }
    }

    /// Returns an offset before every event that is not older than `time`, and after nearly all that are. The times of the log ascend.
    ///
    /// - Throws: `StoreError`.
    package func eventOffset(
        before time: Timestamp,
        in bounds: EventBounds,
        of tenant: TenantID
    ) async throws(StoreError) -> Int64 {
        try await asStore { () throws(PostgresError) in
            var (low, high) = (bounds.first, bounds.head)
            // It halves the range until a page is left, by one probe of the key each time.
            while high - low > 1000 {
                let middle = low + (high - low) / 2
                let statement = EventSQL.next(.id(tenant), .int64(middle))
                let row = try await call.run(statement, tenant: tenant.rawValue).first
                if let row, try row.time("at") < time { low = min(try row.int64("last"), high) } else { high = middle }
            }
            return low
        }
    }

    /// Returns the range of the tenant's log that can be read.
    ///
    /// - Throws: `StoreError`.
    package func eventBounds(in tenant: TenantID) async throws(StoreError) -> EventBounds {
        try await asStore { () throws(PostgresError) in
            let row = try await call.run(EventSQL.bounds(.id(tenant)), tenant: tenant.rawValue).only()
            return EventBounds(first: try row.int64("first"), head: try row.int64("head"))
        }
    }
}
