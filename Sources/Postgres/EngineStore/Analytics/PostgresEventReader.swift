package import Model
package import PostgresClient
import Store

/// Counts the events of each tenant: latencies, distinct devices and users, devices gained and lost. Any node may do it, and one node at a time does for a tenant.
///
/// A step reads the events after the tenant's cursor, and adds to the stored figures and moves the cursor in one transaction. That transaction begins with the cursor's row
/// and ends without a change if another node has claimed it since. So every event is counted once, whatever fails.
package struct PostgresEventReader: Sendable {
    private let engine: PostgresPool
    private let node: NodeID

    /// A minute: a step takes less than a second, and another node continues a minute after this one has died.
    private static let lease = Duration.seconds(60)

    /// - Parameters:
    ///   - engine: the pool of `gateway_engine`.
    ///   - node: the node that counts.
    package init(engine: PostgresPool, node: NodeID) {
        self.engine = engine
        self.node = node
    }

    /// The work that a look found.
    package struct Work: Sendable, Hashable {
        /// With events to count, the one that was counted longest ago first.
        package var tenants: [TenantID]
        /// Whether a slice is due for longer than `EventReaderMachine.longestWait` and unclaimed.
        package var areSlicesWaiting: Bool
    }

    /// Looks for work, without locks.
    ///
    /// - Throws: `StoreError`.
    package func look() async throws(StoreError) -> Work {
        try await asStore { () throws(PostgresError) in
            let tenants = try await engine.run(EventReaderSQL.due(.int(EventReaderMachine.offerLimit)), tenant: nil)
            guard !tenants.isEmpty else { return Work(tenants: [], areSlicesWaiting: false) }
            let waiting = EventReaderSQL.waiting(.interval(EventReaderMachine.longestWait))
            return Work(
                tenants: try tenants.rows { (row) throws(PostgresError) in try row.id("tenant_id") },
                areSlicesWaiting: try await engine.run(waiting, tenant: nil).only().bool("are_waiting")
            )
        }
    }

    /// The end of a step.
    package struct Progress: Sendable, Hashable {
        /// The offset up to which events are counted now.
        package var cursor: Int64
        /// Events that retention removed before they were counted.
        package var lost: Int64
    }

    /// Counts the next events of a tenant.
    ///
    /// - Parameters:
    ///   - tenant: whose events.
    ///   - limit: the number of events; at most `EventReaderMachine.stepLimit`.
    /// - Returns: nil if another node counts this tenant.
    /// - Throws: `StoreError`. Nothing is counted then, or, if the answer to the commit was lost, everything; the next step continues correctly in both cases.
    package func step(
        _ tenant: TenantID,
        limit: Int = EventReaderMachine.stepLimit
    ) async throws(StoreError) -> Progress? {
        try await asStore { () throws(PostgresError) in
            guard let lease = try await claim(tenant) else { return nil }
            do throws(PostgresError) {
                let page = try await read(lease, Int64(clamping: min(max(1, limit), EventReaderMachine.stepLimit)))
                guard page.through > lease.cursor else {
                    try await release(lease)
                    return Progress(cursor: lease.cursor, lost: 0)
                }
                return try await count(page, lease) ? Progress(cursor: page.through, lost: page.lost) : nil
            } catch {
                // Otherwise the tenant waits for the end of the lease. The cursor has not moved, or the lease has ended.
                try? await release(lease)
                throw error
            }
        }
    }

    // MARK: Lease

    struct Lease: Sendable {
        var tenant: TenantID
        var cursor: Int64
        var epoch: Int64
        var hash: KeyedHash
    }

    private func claim(_ tenant: TenantID) async throws(PostgresError) -> Lease? {
        var random = SystemRandomNumberGenerator()
        let key = (0..<KeyedHash.keyBytes).map { _ in UInt8.random(in: 0...255, using: &random) }
        let transaction = Transaction(
            tenant: tenant.rawValue,
            [
                EventReaderSQL.create(.id(tenant), .bytes(key)),
                EventReaderSQL.claim(.id(tenant), .id(node), .interval(Self.lease)),
            ]
        )
        guard let row = try await engine.run(transaction).result(1).first else { return nil }
        guard let hash = KeyedHash(key: try row.bytes("key")) else {
            throw PostgresError(.other, reason: "the key of the sketches is malformed")
        }
        return Lease(tenant: tenant, cursor: try row.int64("cursor"), epoch: try row.int64("epoch"), hash: hash)
    }

    private func release(_ lease: Lease) async throws(PostgresError) {
        let statement = EventReaderSQL.release(.id(lease.tenant), .id(node), .int64(lease.epoch))
        _ = try await engine.run(statement, tenant: lease.tenant.rawValue)
    }

    // MARK: Events

    struct Page: Sendable {
        var events: [LoggedEvent] = []
        /// The offset of the last event that was looked at.
        var through: Int64
        var lost: Int64
    }

    private func read(_ lease: Lease, _ limit: Int64) async throws(PostgresError) -> Page {
        // Everything up to `head` is visible to every later statement. Only what is on disk is counted.
        let transaction = Transaction(
            tenant: lease.tenant.rawValue,
            [EventReaderSQL.bounds(.id(lease.tenant), .int64(lease.cursor))],
            flushes: true
        ) { (results) throws(PostgresError) in
            let range = try Self.range(try results.result(0), lease, limit)
            guard range.from < range.through else { return .commit }
            let kinds = LoggedEvent.Kind.allCases.map(\.rawValue)
            return Step([
                EventReaderSQL.page(.id(lease.tenant), .int64(range.from), .int64(range.through), .strings(kinds))
            ])
        }
        let results = try await engine.run(transaction)
        let range = try Self.range(try results.result(0), lease, limit)
        var page = Page(through: range.through, lost: range.from - lease.cursor)
        if results.count > 1 {
            let reader = LoggedEventRow(results[1])
            for row in results[1] { if let event = try reader.read(row) { page.events.append(event) } }
        }
        return page
    }

    /// The offsets after which and up to which events are read.
    private static func range(
        _ bounds: ResultSet,
        _ lease: Lease,
        _ limit: Int64
    ) throws(PostgresError) -> (from: Int64, through: Int64) {
        let row = try bounds.only()
        let head = max(try row.int64("head"), lease.cursor)
        let from = try row.isNull("before") ? head : min(max(lease.cursor, try row.int64("before")), head)
        return (from, min(head, from + limit))
    }

    // MARK: Counting

    /// Returns whether the events were counted; false if another node has claimed the tenant since.
    private func count(_ page: Page, _ lease: Lease) async throws(PostgresError) -> Bool {
        let (tenant, node) = (lease.tenant, node)
        let counting = EventCounting(tenant: tenant, events: page.events, hash: lease.hash)
        let advance = EventReaderSQL.advance(
            .id(tenant),
            .id(node),
            .int64(lease.epoch),
            .int64(page.through),
            .int64(page.lost)
        )
        let transaction = Transaction(tenant: tenant.rawValue, [advance] + counting.references) {
            (results) throws(PostgresError) in
            guard try !results.result(0).isEmpty, !page.events.isEmpty else { return .commit }
            let additions = try counting.additions(Array(results.dropFirst()))
            let stored = StoredFigures(tenant: tenant, additions: additions)
            let loading = stored.loading
            return Step(loading) { (results) throws(PostgresError) in
                // The results of all steps; the last are those of `loading`.
                Step(try stored.writing(Array(results.suffix(loading.count))))
            }
        }
        return try await engine.run(transaction).result(0).first != nil
    }
}
